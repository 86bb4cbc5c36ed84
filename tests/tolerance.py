"""The one tolerance helper of the tests."""

import numpy as np


def relative_error(actual, desired):
    """Largest absolute difference over the scale of what is desired."""
    actual, desired = np.asarray(actual, float), np.asarray(desired, float)
    assert actual.shape == desired.shape, f"shapes differ: {actual.shape}, {desired.shape}"
    if actual.size == 0:
        return 0.0
    difference = np.abs(actual - desired)
    scale = np.abs(desired).max()
    return float(difference.max() / (scale if scale > 0 else 1.0))


def assert_close(actual, desired, rtol=1e-12, *, reason=None):
    """Assert that the relative error is at most `rtol`; more than 1e-9 needs a reason."""
    assert rtol <= 1e-9 or reason, "a tolerance above 1e-9 must say why"
    error = relative_error(actual, desired)
    assert error <= rtol, f"relative error {error:.3g} exceeds {rtol:.3g}"

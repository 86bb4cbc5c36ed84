"""The benchmark of kernel machines in a tiny configuration."""

import pytest

from bench.problems import kernels

pytestmark = pytest.mark.usefixtures("cache")


def test_the_table(capsys):
    kernels.run(quick=True, repeats=1)
    out = capsys.readouterr().out
    assert "200 support vectors, 10 variables, degree 3: 286 columns, 175 components, N = 2000" in out
    ours = next(line for line in out.splitlines() if line.startswith("ours, whole"))
    assert float(ours.split()[-1]) < 1e-12
    assert "failed" not in out and "WRONG" not in out
    assert "ours, whole / SVR.predict" in out and "n = 200, d = 5 refused" in out

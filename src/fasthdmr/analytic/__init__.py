"""Functions whose HDMR is known in closed form, for learning and for tests of estimators.

Each is callable on rows, draws them with `sample`, and has the results of a fitted estimator: `component`,
`components`, `subspaces`, `sensitivity`, `explained`.
"""

from fasthdmr.analytic.gaussian_quadratic import GaussianQuadratic
from fasthdmr.analytic.ishigami import Ishigami
from fasthdmr.analytic.product import Product
from fasthdmr.analytic.symmetric_polynomial import SymmetricPolynomial

__all__ = ["GaussianQuadratic", "Ishigami", "Product", "SymmetricPolynomial"]

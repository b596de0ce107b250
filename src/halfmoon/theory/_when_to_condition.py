r"""When to condition: does it lower the error not to penalize some features?

Takhanov, Assylbekov, "Conditional KRR", 2026, inequality (3), compares the expected
errors of kernel ridge with the first k modes unpenalized and with none,

.. math:: \sum_{i \le k} \frac{kappa^2 u_i^2}{(s_i + kappa)^2} >
          \sigma^2 \Bigl(\frac{E'_{noise}}{E_{noise}} - 1\Bigr)
          + O\Bigl(\frac{\sigma^2 (k + 1)}{N E_{noise}}\Bigr)

where the last term, the cost of conditioning, is known up to a constant. The risk of
`halfmoon.theory.eigenlearning` contains that cost, so we compare the two risks
themselves: conditioning pays if E at f = k is below E at f = 0.

From data, the modes are the eigenvectors of the kernel matrix of the labeled rows,
K / N, and of :math:`(I - P) K (I - P) / N` with P the projection on any features. With
noise of variance :math:`\sigma^2` the square of a coefficient :math:`u_i'y / \sqrt N`
is too large by :math:`\sigma^2 / N`, which is subtracted. The noise is estimated by the
residuals r of the conditional fit with smoother H,
:math:`\sigma^2 = |r|^2 / tr((I - H)^2)`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from halfmoon._labels import as_targets, no_labels
from halfmoon._rows import Array, Rows, as_table
from halfmoon._solvers.elimination import Elimination
from halfmoon.kernels import Kernel
from halfmoon.theory._eigenlearning import eigenlearning
from halfmoon.theory._residual import fitted
from halfmoon.unpenalized import Unpenalized

__all__ = [
    "Conditioning",
    "compare_risks",
    "should_condition",
    "should_condition_from_data",
]


@dataclass(frozen=True)
class Conditioning:
    """Whether to condition; see `should_condition`."""

    answer: bool
    margin: float
    risk: float
    risk_without: float
    noise_variance: float

    def __bool__(self) -> bool:
        return self.answer

    def __str__(self) -> str:
        what = "lower" if self.answer else "raise"
        if self.margin == 0:
            return "The unpenalized features are predicted to change nothing."
        return (
            f"The unpenalized features are predicted to {what} the mean squared error "
            f"by {abs(self.margin):.0%}, from {self.risk_without:.3g} to "
            f"{self.risk:.3g}."
        )


def should_condition(
    spectrum: Any,  # (modes,)
    n_samples: int,
    alpha: float,
    *,
    n_unpenalized: int,
    target: Any = 0.0,  # (modes,)
    noise_variance: float = 0.0,
    tail: float = 0.0,
) -> Conditioning:
    """Decide from the spectrum whether the first modes should be unpenalized.

    Parameters
    ----------
    spectrum, n_samples, alpha, target, noise_variance, tail : see `eigenlearning`
    n_unpenalized : int
        Number of modes to leave unpenalized.

    Returns
    -------
    Conditioning
        An object that prints as a sentence and is true if conditioning pays, with
        these attributes:

        answer : bool
            Whether the features are predicted to lower the error.
        margin : float
            The predicted reduction as a share of the error without the features;
            negative if they raise it.
        risk : float
            Predicted mean squared error at new rows, noise included, with the features.
        risk_without : float
            The same without them.
        noise_variance : float
            The variance of the noise, given or estimated.

    Examples
    --------
    Five cosines are learned better if they are unpenalized, and noise alone is not:

    >>> i = np.repeat(np.arange(1.0, 501.0), 2)
    >>> spectrum = np.append(1.0, i**-2.0 / 2)
    >>> target = np.zeros(1001)
    >>> target[1:11:2] = np.arange(1, 6) / np.sqrt(2)
    >>> common = {"n_unpenalized": 11, "noise_variance": 1.0}
    >>> print(should_condition(spectrum, 100, 0.01, target=target, **common))
    The unpenalized features are predicted to lower the mean squared error by 72%, ...
    >>> bool(should_condition(spectrum, 100, 0.01, **common))
    False
    """
    risk, without = (
        eigenlearning(
            spectrum,
            n_samples,
            alpha,
            target=target,
            noise_variance=noise_variance,
            n_unpenalized=f,
            tail=tail,
        ).risk
        for f in (n_unpenalized, 0)
    )
    return _compared(risk, without, noise_variance)


def should_condition_from_data(
    kernel: Kernel,
    features: Unpenalized,
    X: Rows,  # (N, d)
    y: Any,  # (N,) or (N, t)
    alpha: float,
    *,
    noise_variance: float | None = None,
) -> Conditioning:
    """Decide from labeled rows whether features should be unpenalized. O(N^3).

    Parameters
    ----------
    kernel : Kernel
    features : Unpenalized
    X, y : rows and targets
        Unlabeled rows are ignored.
    alpha : float
        Penalty weight, relative to the averaged loss, above 0.
    noise_variance : float or None
        None estimates it from the residuals of the conditional fit.

    Returns
    -------
    Conditioning
        As `should_condition` returns it.

    Examples
    --------
    >>> from halfmoon.kernels import Gaussian
    >>> from halfmoon.unpenalized import Polynomials
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (60, 2))
    >>> y = 5 * X[:, 0] + 0.3 * rng.normal(size=60)
    >>> bool(should_condition_from_data(Gaussian(1.0), Polynomials(1), X, y, 0.1))
    True
    """
    if not 0 < alpha < np.inf:
        raise ValueError(f"alpha is {alpha!r}; a number above 0 is needed.")
    X = as_table(X)
    targets = as_targets(y, X.shape[0])
    known = ~np.isnan(targets).any(axis=1)
    if not known.any():
        raise no_labels(X.shape[0])
    X, targets = X[known], targets[known]
    F, K = fitted(features, X).transform(X), kernel.resolve(X)(X)
    return compare_risks(K, Elimination(F, quiet=True), targets, alpha, noise_variance)


def compare_risks(
    K: Array,  # (N, N)
    elimination: Elimination,
    y: Array,  # (N, t)
    alpha: float,
    noise_variance: float | None = None,
    without: Elimination | None = None,
) -> Conditioning:
    """`should_condition_from_data`, from a kernel matrix and features at its rows.

    The comparison is with other unpenalized features, `without`, or with none.
    """
    N, f = len(K), elimination.rank
    if f >= N:
        raise ValueError(
            f"There are {f} unpenalized features for {N} labeled rows, so they fit any "
            f"labels exactly. Use fewer features, or label more rows."
        )
    residual = _residual_modes(K, elimination, y)
    if noise_variance is None:
        left = alpha * N / (residual[0] + alpha * N)  # of I - H in each mode
        noise_variance = float((left**2 @ residual[1]).mean() / (left**2).sum())
    risk = _risk(*residual, N, alpha, f, noise_variance)
    base = without or Elimination(np.zeros((N, 0)))
    modes = _residual_modes(K, base, y)
    risk_without = _risk(*modes, N, alpha, base.rank, noise_variance)
    return _compared(risk, risk_without, noise_variance)


def _residual_modes(
    K: Array, elimination: Elimination, y: Array
) -> tuple[Array, Array]:  # (m,), (m, t)
    """Return the eigenvalues of N'K N, 0 or more, and squared coefficients of N'y."""
    s, U = np.linalg.eigh(elimination.congruence(K))
    return np.maximum(s, 0.0), (U.T @ elimination.complement(y)) ** 2


def _risk(
    s: Array,  # (m,), eigenvalues of a kernel matrix
    squares: Array,  # (m, t)
    N: int,
    alpha: float,
    f: int,
    noise_variance: float,
) -> float:
    spectrum = np.append(np.ones(f), s / N)  # the first f are arbitrary
    found = eigenlearning(spectrum, N, alpha, n_unpenalized=f)
    lost = (1.0 - found.learnability[f:]) ** 2
    missed = float((lost @ (squares - noise_variance)).mean()) / N
    return found.overfitting * (noise_variance + max(missed, 0.0))


def _compared(risk: float, without: float, noise_variance: float) -> Conditioning:
    margin = (without - risk) / without if without > 0 else 0.0
    return Conditioning(bool(risk < without), margin, risk, without, noise_variance)

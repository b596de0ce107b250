"""A fitted average of candidates: values, uncertainty and left-out residuals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from halfmoon.blocks import Stream
from halfmoon.candidates.blend import Blend
from halfmoon.candidates.labeled import Labeled
from halfmoon.rows import Array, Indices, Rows

__all__ = ["Average"]

SURE = 0.02  # least weight of an entry whose uncertainty is asked for


@dataclass(frozen=True)
class Average:
    """What an average of candidates says of any rows.

    Attributes
    ----------
    blend : Blend
    data : Labeled
    single : bool
        The targets came as a vector.
    stream : Stream
    limits : (ndarray, ndarray) or None
        Least and largest value of each target.
    """

    blend: Blend
    data: Labeled
    single: bool
    stream: Stream
    limits: tuple[Array, Array] | None = None

    def predict(self, X: Rows) -> Array:
        """Values, shape (b,) or (b, t)."""
        values = self.stream.map(self.blend, X, row_bytes=self._row_bytes(X))
        return self.shaped(self.limited(values))

    def std(self, X: Rows) -> Array:
        """Posterior standard deviation of the function, shape (b,) or (b, t).

        Of a mixture of the candidates' posteriors: their variances, and how far they
        are from each other.
        """
        weights = self.blend.weights
        chosen = np.flatnonzero(weights >= min(SURE, weights.max()))
        shares = weights[chosen] / weights[chosen].sum()
        entries = [self.blend.entries[i] for i in chosen]
        means = [Blend([entry], np.ones(1)) for entry in entries]
        variances = [entry.candidate.variance(entry.alpha) for entry in entries]

        def variance(rows: Rows) -> Array:
            mean, total = self.blend(rows), 0.0
            for share, entry, g, var in zip(
                shares, entries, means, variances, strict=True
            ):
                values, target = g(rows), entry.candidate.data.target
                own = target.variance_back(values, var(rows))
                total = total + share * (own + (values - mean) ** 2)
            return np.asarray(total)

        row_bytes = 4 * self._row_bytes(X)
        return self.shaped(np.sqrt(self.stream.map(variance, X, row_bytes=row_bytes)))

    @property
    def unlabeled(self) -> bool:
        """Rows without labels have a part in it."""
        return self.blend.unlabeled

    def leave_one_out(self, some: Indices | slice = slice(None)) -> Array:
        """Residuals of the labeled rows without their own labels, the weights held."""
        return self.shaped((self.data.y - self.left_out)[some])

    @property
    def left_out(self) -> Array:
        """Values of the labeled rows without their own labels, shape (l, t)."""
        return self.limited(self.blend.left_out)

    def smoother_matrix(self, X: Rows) -> Array:
        """H(x), shape (b, l), with values H(x) y for any targets; weights are held."""
        self.blend.refuse_logarithms()
        return self.label_weights(X)

    def label_weights(self, X: Rows) -> Array:
        """As `smoother_matrix`, but of targets on the scale that they are fitted on."""
        blend = self.blend.with_targets(np.eye(len(self.data.y)))
        return self.stream.map(blend, X, row_bytes=4 * self._row_bytes(X))

    @property
    def fitted_targets(self) -> Array:
        """The targets on that scale, (l, t); as given where there is more than one."""
        if self.blend.scale == "mixed":
            return self.data.y
        return self.blend.entries[0].candidate.data.y

    @property
    def coef(self) -> Array:
        """Weights of the unpenalized features, (k, t), where all entries share them."""
        weighed = zip(self.blend.weights, self.blend.entries, strict=True)
        return np.sum([w * e.candidate.coef(e.alpha) for w, e in weighed], axis=0)

    def limited(self, values: Array) -> Array:
        """Values within the limits."""
        return values if self.limits is None else np.clip(values, *self.limits)

    def shaped(self, values: Array) -> Array:
        """One column for each target, or a vector where the targets came as one."""
        return values[:, 0] if self.single else values

    def _row_bytes(self, X: Rows) -> int:
        return 8 * (4 * len(self.data.y) + 4 * min(X.shape[1], 2_000))

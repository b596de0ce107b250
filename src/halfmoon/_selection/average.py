r"""A weighted average of fitted functions.

.. math:: g(x) = \sum_i w_i \, b_i(g_i(x))

Here b_i is the inverse target transform of member i. Members are fits of problem (1) in
`halfmoon.problem`: in the exact basis, at landmarks, or local (`average_members.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, cast

import numpy as np

from halfmoon._rows import Array, Indices, Rows
from halfmoon._selection.average_members import (
    Group,
    KernelSums,
    Member,
    gram_matrix,
    is_exact,
    is_kernel_sum,
)
from halfmoon._selection.average_weights import averaged_values, group_by_transform
from halfmoon.bases import Exact
from halfmoon.blocks import Stream
from halfmoon.kernels import Kernel
from halfmoon.problem import Fit
from halfmoon.problem._fit import loo_residuals_of_set
from halfmoon.problem._local_fits import LocalFit
from halfmoon.problem._posed import Posed

__all__ = ["Average"]

MAX_DEVIATION_MEMBERS = 16  # heaviest members that enter the standard deviation
LABELS_AT_ONCE = 512  # whose weights are computed together, at every row of a graph


@dataclass(frozen=True, eq=False)
class Average:
    """A weighted average of members, as one fitted function."""

    members: list[Member]  # their weights sum to 1
    y: Array  # (l, t), targets of all labeled rows
    w: Array  # (l,), their weights
    X_l: Rows  # (l, d), the labeled rows
    single: bool  # whether the targets came as a vector
    stream: Stream
    limits: tuple[Array, Array] | None = None  # smallest and largest predictions, (t,)
    #: Labeled rows that have held-out predictions.
    rows: Indices | slice = field(default_factory=lambda: slice(None))

    def __getstate__(self) -> dict[str, Any]:
        """Leave out cached functions, which are rebuilt from the rest."""
        return {name: self.__dict__[name] for name in self.__dataclass_fields__}

    @property
    def weights(self) -> Array:
        """Weights of the members."""
        return np.array([member.weight for member in self.members])

    @property
    def uses_unlabeled(self) -> bool:
        """Whether any member has learned from unlabeled rows."""
        return any(member.uses_unlabeled for member in self.members)

    def predict(self, X: Rows) -> Array:
        """Return predictions of shape (b,) or (b, t)."""
        return self.shaped(self.clip(self._map(self._values, X)))

    def _values(self, X: Rows) -> Array:
        return np.sum([group.on_original_scale(X) for group in self._groups], axis=0)

    def std(self, X: Rows) -> Array:
        """Return the posterior standard deviation, shape (b,) or (b, t).

        It is that of a mixture of the heaviest members' posteriors: their variances
        plus their squared distances from the average.
        """
        order = np.argsort(-self.weights, kind="stable")[:MAX_DEVIATION_MEMBERS]
        chosen = [self.members[i] for i in order]
        shares = np.array([member.weight for member in chosen])
        mean = self._map(self._values, X)
        total = np.zeros_like(mean)
        for share, member in zip(shares / shares.sum(), chosen, strict=True):
            group = Group([replace(member, weight=1.0)])
            values = self._map(group.on_original_scale, X)
            variance = member.fit.std(X).reshape(mean.shape) ** 2
            own_variance = member.target.inverse_variance(values, variance)
            total += share * (own_variance + (values - mean) ** 2)
        return self.shaped(np.sqrt(total))

    @property
    def held_out(self) -> Array:
        """Held-out predictions at the labeled rows `rows`, shape (m, t)."""
        return self.clip(averaged_values(self.members, self.weights))

    def leave_one_out(self, some: Indices | slice = slice(None)) -> Array:
        """Return leave-one-out residuals with the weights held fixed."""
        if isinstance(self.rows, slice):
            return self.shaped((self.y - self.held_out)[some])
        (member,) = self.members
        return member.fit.leave_one_out(some)

    def smoother_matrix(self, X: Rows) -> Array:
        """Return H(x), shape (b, l): predictions are H(x) y, with the weights held."""
        if self.scale != "as given":
            raise ValueError(
                "The model was fitted to the logarithm of the targets, so predictions "
                "are not linear in the targets and there is no smoother matrix. Use "
                "explain(X), which gives the weights of the labels on the logarithmic "
                "scale, or shift the targets so that some are negative."
            )
        return self.label_weights(X)

    def label_weights(self, X: Rows) -> Array:
        """Return the smoother matrix for targets on the scale of the fit.

        It has b l numbers. Fits in the exact basis are refitted to unit targets, of
        which there are as many as labels; local fits, of many labels, are not.
        """
        l = len(self.y)
        total = np.zeros((X.shape[0], l))
        for labels in np.array_split(np.arange(l), -(-l // LABELS_AT_ONCE)):
            weights = self._few
            if l > len(labels):
                weights = self._weights_of(labels, self._exact_members)
            if weights is not None:
                total[:, labels] = self._map(weights, X, copies=4)
        for member in self.members:
            if not is_exact(member.fit):
                total += member.weight * member.fit.smoother_matrix(X)
        return total

    @property
    def _exact_members(self) -> list[Member]:
        return [member for member in self.members if is_exact(member.fit)]

    def _weights_of(
        self, labels: Indices, members: Sequence[Member]
    ) -> Callable[[Rows], Array] | None:
        """Return a function to the weights of some labels in kernel sums, (b, m).

        The members are fitted to unit targets one by one, and only their sum is kept,
        which has m numbers for each row of a graph. None without members.
        """
        if not members:
            return None
        units = np.zeros((len(self.y), len(labels)))
        units[labels, np.arange(len(labels))] = 1.0
        sums = KernelSums()
        posed: dict[tuple[int, int], Posed] = {}  # problems that members share
        grams: dict[Kernel, Array] = {}
        for member in members:
            fit = member.fit
            if isinstance(fit, LocalFit):
                sums.add(fit.with_targets(units), member.weight)
                continue
            key = id(fit.posed.basis), id(fit.posed.unpenalized)
            if key not in posed:
                posed[key] = fit.posed.with_targets(units)
                if not posed[key].is_factored:
                    K = gram_matrix(cast(Exact, fit.posed.basis), grams)
                    posed[key] = posed[key].with_gram(K)
                    posed[key].path  # noqa: B018 - members share it, at their alphas
            assert fit.solve is not None
            sums.add(fit.solve(posed[key]), member.weight)
        functions = sums.functions()
        return lambda X: np.sum([function(X) for function in functions], axis=0)

    @cached_property
    def _few(self) -> Callable[[Rows], Array] | None:
        """The exact weights of all labels, kept because they are few."""
        return self._weights_of(np.arange(len(self.y)), self._exact_members)

    def loo_predictor(self, some: Indices) -> Callable[[Rows], Array]:
        """Return a function that predicts rows without the labels of labeled rows.

        Row j of its argument is predicted without label ``some[j]``, and so on, again
        from ``some[0]`` for every m rows. A fit without label i equals the fit in which
        label i is what that fit predicts there, so
        :math:`g_{-i}(x) = g(x) - H_i(x) (y_i - g_{-i}(x_i))`. The formula is applied to
        the average of members with the same target transform: exact for one member,
        close for several. At landmarks, where thousands of labels have little weight
        each, the label stays in. The argument has m rows, or a multiple of m.
        """
        if not isinstance(self.rows, slice):
            return lambda X: self.clip(self._values(X))
        groups = [(group, part._own_weights(some)) for group, part in self._smoothers]

        def values(X: Rows) -> Array:
            times = X.shape[0] // len(some)
            total = np.zeros((X.shape[0], self.y.shape[1]))
            for group, own_weights in groups:
                residuals = np.tile(group.residuals[some], (times, 1))
                own = own_weights(X)[:, None] * residuals
                total += group.inverse(group.values(X) - own)
            return self.clip(total)

        return values

    def _own_weights(self, some: Indices) -> Callable[[Rows], Array]:
        """Return a function to the weights of labels ``some[j]`` at rows j, (b,)."""
        sums = [member for member in self.members if is_kernel_sum(member.fit)]
        others = [member for member in self.members if not is_kernel_sum(member.fit)]
        if sums == self._exact_members and np.array_equal(some, np.arange(len(self.y))):
            weights = self._few
        else:
            weights = self._weights_of(some, sums)

        def own(X: Rows) -> Array:
            places, b = np.arange(X.shape[0]), X.shape[0]
            total = np.zeros(b)
            if weights is not None:
                total += weights(X)[places, places % len(some)]
            for member in others:
                H = member.fit.smoother_matrix(X)
                total += member.weight * H[places, np.resize(some, b)]
            return total

        return own

    def leave_sets_out(self, sets: Sequence[Indices]) -> list[Array]:
        """Return predictions at sets of labeled rows by fits without each set, (m, t).

        The weights of the members are held, and the smoother of the average stands in
        for theirs: exact for one member, close for several.
        """
        found = [np.zeros((len(some), self.y.shape[1])) for some in sets]
        for group, smoother in self._smoothers:
            y = group.target.forward(self.y)
            H = smoother.label_weights(self.X_l)
            r = y - H @ y
            for total, some in zip(found, sets, strict=True):
                total += group.inverse(y[some] - loo_residuals_of_set(H, r, some))
        return [self.clip(values) for values in found]

    @cached_property
    def _smoothers(self) -> list[tuple[Group, Average]]:
        """Members of each target transform, as a group and as an average."""
        pairs = []
        for group, members in zip(self._groups, self._by_scale, strict=True):
            part = self
            if len(self._groups) > 1:
                alone = [replace(m, weight=m.weight / group.share) for m in members]
                part = replace(self, members=alone)
            pairs.append((group, part))
        return pairs

    @property
    def scale(self) -> Literal["as given", "log", "mixed"]:
        """The scale of the targets on which members were fitted."""
        logs = {bool(member.target.suffix) for member in self.members}
        return "mixed" if len(logs) > 1 else "log" if True in logs else "as given"

    @property
    def fitted_targets(self) -> Array:
        """Targets on that scale, (l, t); as given if members differ in scale."""
        mixed = self.scale == "mixed"
        return self.y if mixed else self.members[0].target.forward(self.y)

    @property
    def coef(self) -> Array:
        """Coefficients of the unpenalized features that all members share, (k, t).

        Those of a local fit are the mean over its regions.
        """
        betas = [
            m.fit.betas.mean(axis=0) if isinstance(m.fit, LocalFit) else m.fit.beta
            for m in self.members
        ]
        return np.tensordot(self.weights, betas, 1)

    def clip(self, values: Array) -> Array:
        """Clip values to the limits."""
        return values if self.limits is None else np.clip(values, *self.limits)

    def shaped(self, values: Array) -> Array:
        """Return a vector if the targets came as a vector, else a column per target."""
        return values[:, 0] if self.single else values

    @cached_property
    def _by_scale(self) -> list[list[Member]]:
        return [
            [self.members[i] for i in places]
            for places in group_by_transform(self.members).values()
        ]

    @cached_property
    def _groups(self) -> list[Group]:
        """Members grouped by target transform."""
        return [Group(members) for members in self._by_scale]

    def _map(
        self, function: Callable[[Rows], Array], X: Rows, copies: int = 1
    ) -> Array:
        by_member = [
            m.fit.posed.basis.row_bytes for m in self.members if isinstance(m.fit, Fit)
        ]
        # Local fits in several regions divide the rows themselves. Each block finds and
        # prepares the labeled rows of its regions, so it should have many rows.
        whole = any(is_kernel_sum(member.fit) for member in self.members)
        own = 8 * copies * (4 * whole * len(self.y) + 4 * min(X.shape[1], 2_000))
        row_bytes = own + max(by_member, default=0)
        with self.stream.handed_down():
            self._groups  # noqa: B018 - built once, before workers start
        return self.stream.map(function, X, row_bytes=row_bytes)

r"""An average of fitted functions: values, uncertainty and held-out residuals.

.. math:: g(x) = \sum_i w_i \, b_i(g_i(x))

with b_i bringing the targets of member i back to the user's scale. Members are fits of
(1) in `halfmoon.problem`: in the exact basis, at landmarks, or local ones. Fits in the
exact basis are linear in their kernels, so that a kernel is evaluated once, however
many members it is in, and rows are prepared once for all kernels that see them so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from halfmoon.bases import Exact
from halfmoon.blocks import Stream
from halfmoon.kernels import Kernel
from halfmoon.problem import Fit, LocalFit, left_out_together
from halfmoon.rows import Array, Indices, Rows
from halfmoon.selection.kernel_sums import KernelSums, gram_matrix
from halfmoon.selection.target_transforms import AS_GIVEN, Target
from halfmoon.selection.weights import blended_values, by_target

__all__ = ["Average", "Member"]

MEMBERS = 16  # the weightiest, whose uncertainty is asked for


@dataclass(frozen=True, eq=False)
class Member:
    """A fitted function with its weight.

    Attributes
    ----------
    name : str
    fit : Fit or LocalFit
    weight : float
    held_out : ndarray of shape (m, t)
        Values without their own labels at the labeled rows, or at some of them.
    y : ndarray of shape (m, t)
        Their targets, on the scale of `target`.
    uses_unlabeled : bool
        It has learned from rows without labels.
    target : Target
        The scale that the targets were fitted on.
    """

    name: str
    fit: Fit | LocalFit
    weight: float
    held_out: Array
    y: Array
    uses_unlabeled: bool
    target: Target = AS_GIVEN


@dataclass(frozen=True, eq=False)
class Average:
    """What an average of members says of any rows.

    Attributes
    ----------
    members : list of Member
        With weights of 1 in sum.
    y, w : ndarrays of shape (l, t) and (l,)
        Targets and weights of all labeled rows.
    X_l : array or CSR of shape (l, d)
        The labeled rows.
    single : bool
        The targets came as a vector.
    stream : Stream
    limits : (ndarray, ndarray) or None
        Least and largest value of each target.
    rows : indices or slice
        The labeled rows that held-out values are of.
    """

    members: list[Member]
    y: Array
    w: Array
    X_l: Rows
    single: bool
    stream: Stream
    limits: tuple[Array, Array] | None = None
    rows: Indices | slice = field(default_factory=lambda: slice(None))

    def __getstate__(self) -> dict[str, Any]:
        """What is stored: not the functions, which are made from the rest."""
        return {name: self.__dict__[name] for name in self.__dataclass_fields__}

    @property
    def weights(self) -> Array:
        """Of the members."""
        return np.array([member.weight for member in self.members])

    @property
    def uses_unlabeled(self) -> bool:
        """Rows without labels have a part in it."""
        return any(member.uses_unlabeled for member in self.members)

    def predict(self, X: Rows) -> Array:
        """Values, shape (b,) or (b, t)."""
        return self.shaped(self.limited(self._map(self._values, X)))

    def _values(self, X: Rows) -> Array:
        return np.sum([group.on_user_scale(X) for group in self._groups], axis=0)

    def std(self, X: Rows) -> Array:
        """Posterior standard deviation of the function, shape (b,) or (b, t).

        Of a mixture of the weightiest members' posteriors: their variances, and how far
        they are from the average.
        """
        order = np.argsort(-self.weights, kind="stable")[:MEMBERS]
        chosen = [self.members[i] for i in order]
        shares = np.array([member.weight for member in chosen])
        mean = self._map(self._values, X)
        total = np.zeros_like(mean)
        for share, member in zip(shares / shares.sum(), chosen, strict=True):
            group = _Group([replace(member, weight=1.0)])
            values = self._map(group.on_user_scale, X)
            variance = member.fit.std(X).reshape(mean.shape) ** 2
            own = member.target.variance_back(values, variance)
            total += share * (own + (values - mean) ** 2)
        return self.shaped(np.sqrt(total))

    @property
    def held_out(self) -> Array:
        """Values at `rows` of the labeled rows without their own labels, (m, t)."""
        return self.limited(blended_values(self.members, self.weights))

    def leave_one_out(self, some: Indices | slice = slice(None)) -> Array:
        """Residuals of the labeled rows without their own labels, the weights held."""
        if isinstance(self.rows, slice):
            return self.shaped((self.y - self.held_out)[some])
        (member,) = self.members
        return member.fit.leave_one_out(some)

    def smoother_matrix(self, X: Rows) -> Array:
        """H(x), shape (b, l), with values H(x) y for any targets; weights are held."""
        if self.scale != "as given":
            raise ValueError(
                "The answer takes the logarithm of the targets, so that it does not "
                "depend on them linearly and has no smoother matrix. Targets of which "
                "some are negative are fitted as they are. Use explain(X), which gives "
                "the weights of the labels on the scale of the logarithm."
            )
        return self.label_weights(X)

    def label_weights(self, X: Rows) -> Array:
        """As `smoother_matrix`, but of targets on the scale that they are fitted on."""
        return self._map(self._by_label._values, X, copies=4)

    @cached_property
    def _by_label(self) -> Average:
        """The average for unit targets: its values are weights of labels."""
        return self.with_targets(np.eye(len(self.y)))

    def with_targets(self, y: Array) -> Average:
        """The same members for other targets of the same rows, (l, t).

        Each takes them as they are on its own scale, and the values are averaged as
        they are on these. Nothing is known of held-out values.
        """
        posed: dict[Any, Any] = {}
        grams: dict[Kernel, Array] = {}
        members = []
        unknown = np.full_like(y, np.nan)
        for member in self.members:
            fit: Any = member.fit
            if isinstance(fit, Fit) and isinstance(fit.posed.basis, Exact):
                key = id(fit.posed.basis), id(fit.posed.unpenalized)
                if key not in posed:
                    K = gram_matrix(fit.posed.basis, grams)
                    posed[key] = fit.posed.with_targets(y).with_gram(K)
                assert fit.solve is not None
                fit = fit.solve(posed[key])
            else:
                fit = _ByLabelWeights(fit, y)
            members.append(
                replace(member, fit=fit, held_out=unknown, y=y, target=AS_GIVEN)
            )
        return replace(self, members=members, y=y, single=False, limits=None)

    def without_own(self, some: Indices) -> Callable[[Rows], Array]:
        """Values at rows in place of some labeled ones, without the labels of these.

        A fit to all labels but the i-th is the fit to all in which the i-th is what it
        predicts there, so that :math:`g_{-i}(x) = g(x) - H_i(x) (y_i - g_{-i}(x_i))`.
        It is applied to the average of the members with one scale of targets, which is
        exact for one member and close for several. At landmarks, where labels are
        thousands and each has little weight, the own label stays in.

        Parameters
        ----------
        some : indices of shape (m,)
            Of the labeled rows.

        Returns
        -------
        callable
            From m rows to values, shape (m, t).
        """
        if not isinstance(self.rows, slice):
            return lambda X: self.limited(self._values(X))
        pairs = self._smoothers
        places = np.arange(len(some))

        def values(X: Rows) -> Array:
            total = np.zeros((len(some), self.y.shape[1]))
            for group, smoother in pairs:
                own = smoother._values(X)[places, some][:, None] * group.residuals[some]
                total += group.back(group.values(X) - own)
            return self.limited(total)

        return values

    def leave_sets_out(self, sets: Sequence[Indices]) -> list[Array]:
        """Values at sets of labeled rows by fits without the labels of a set, (m, t).

        The weights of the members are held, and the smoother of the average stands for
        those of its members: exact for one member and close for several.
        """
        found = [np.zeros((len(some), self.y.shape[1])) for some in sets]
        for group, smoother in self._smoothers:
            y = group.members[0].y
            H = smoother._map(smoother._values, self.X_l, copies=4)
            r = y - H @ y
            for total, some in zip(found, sets, strict=True):
                total += group.back(y[some] - left_out_together(H, r, some))
        return [self.limited(values) for values in found]

    @cached_property
    def _smoothers(self) -> list[tuple[_Group, Average]]:
        """Members of each scale of the targets, and what gives their label weights."""
        pairs = []
        for group, members in zip(self._groups, self._by_scale, strict=True):
            part = self
            if len(self._groups) > 1:
                alone = [replace(m, weight=m.weight / group.share) for m in members]
                part = replace(self, members=alone)
            pairs.append((group, part._by_label))
        return pairs

    @property
    def scale(self) -> Literal["as given", "log", "mixed"]:
        """Of the targets that the members are linear in."""
        logs = {bool(member.target.suffix) for member in self.members}
        return "mixed" if len(logs) > 1 else "log" if True in logs else "as given"

    @property
    def fitted_targets(self) -> Array:
        """The targets on that scale, (l, t); as given where there is more than one."""
        return self.y if self.scale == "mixed" else self.members[0].y

    @property
    def coef(self) -> Array:
        """Weights of the unpenalized features, (k, t), where all members share them.

        Of local fits, the mean over their regions.
        """
        betas = [
            m.fit.betas.mean(axis=0) if isinstance(m.fit, LocalFit) else m.fit.beta
            for m in self.members
        ]
        return np.tensordot(self.weights, betas, 1)

    def limited(self, values: Array) -> Array:
        """Values within the limits."""
        return values if self.limits is None else np.clip(values, *self.limits)

    def shaped(self, values: Array) -> Array:
        """One column for each target, or a vector where the targets came as one."""
        return values[:, 0] if self.single else values

    @cached_property
    def _by_scale(self) -> list[list[Member]]:
        return [
            [self.members[i] for i in places]
            for places in by_target(self.members).values()
        ]

    @cached_property
    def _groups(self) -> list[_Group]:
        """The members by the scale of their targets."""
        return [_Group(members) for members in self._by_scale]

    def _map(
        self, function: Callable[[Rows], Array], X: Rows, copies: int = 1
    ) -> Array:
        by_member = [
            m.fit.posed.basis.row_bytes for m in self.members if isinstance(m.fit, Fit)
        ]
        own = 8 * copies * (4 * len(self.y) + 4 * min(X.shape[1], 2_000))
        row_bytes = own + max(by_member, default=0)
        with self.stream.handed_down():
            self._groups  # noqa: B018 - made once, before there are workers
        return self.stream.map(function, X, row_bytes=row_bytes)


class _Group:
    """Members with one scale of targets, averaged on that scale."""

    def __init__(self, members: Sequence[Member]) -> None:
        self.members, self.target = members, members[0].target
        self.share = float(sum(member.weight for member in members))
        shares = [member.weight / self.share for member in members]
        held_out = np.tensordot(shares, [member.held_out for member in members], 1)
        self.residuals = members[0].y - held_out

    @cached_property
    def values(self) -> Callable[[Rows], Array]:
        """From rows to values on the scale of the targets."""
        sums = KernelSums()
        others: list[tuple[float, Fit | LocalFit]] = []
        for member in self.members:
            fit, share = member.fit, member.weight / self.share
            if isinstance(fit, Fit) and isinstance(fit.posed.basis, Exact):
                sums.add(fit, share)
            else:
                others.append((share, fit))
        functions = sums.functions()

        def values(X: Rows) -> Array:
            parts = [function(X) for function in functions]
            for share, fit in others:
                parts.append(share * fit.predict(X).reshape(X.shape[0], -1))
            return np.sum(parts, axis=0)

        return values

    def back(self, values: Array) -> Array:
        """The part in the average, on the user's scale."""
        return self.share * self.target.back(values, self.residuals)

    def on_user_scale(self, X: Rows) -> Array:
        """The part in the average at any rows."""
        return self.back(self.values(X))


@dataclass(frozen=True)
class _ByLabelWeights:
    """A fit with other targets, by the weights of its labels."""

    fit: Fit | LocalFit
    y: Array

    def predict(self, X: Rows) -> Array:
        return self.fit.smoother_matrix(X) @ self.y

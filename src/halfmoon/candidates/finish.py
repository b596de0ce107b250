"""From the labels that candidates were compared on to all labels there are.

===================  ================================================================
labels               the answer is
===================  ================================================================
all were compared    the average itself
up to 2,000          its two weightiest candidates, fitted to all labels
more                 the best of its candidates that can be fitted at landmarks
===================  ================================================================

Where more labels are there than were compared, an average of fits in cells (`many.py`)
stands beside it, and the lower squared error of left-out rows decides. Beyond 20,000
labels only what learns from unlabeled rows is fitted at landmarks, which are too few
for anything else. Cells leave the constant free and are for dense rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from halfmoon.blocks import Stream
from halfmoon.candidates.average import Average
from halfmoon.candidates.blend import Blend, Entry
from halfmoon.candidates.candidate import ALPHAS, Candidate
from halfmoon.candidates.judges import Judge
from halfmoon.candidates.labeled import Labeled
from halfmoon.candidates.landmarks import PreparedFit, at_landmarks
from halfmoon.candidates.losses import squared_losses
from halfmoon.candidates.many import InCells, fit_in_cells
from halfmoon.candidates.parts import Part, ProblemPart
from halfmoon.memory import parse_bytes
from halfmoon.unpenalized import Unpenalized

__all__ = ["Finish"]

KEPT = 2
DUAL_LABELS = 2_000
DUAL_MATRICES = 4  # of labels by labels, held at once
LANDMARK_LABELS = 20_000


@dataclass(frozen=True)
class Finish:
    """Turns an average of candidates into an answer that has seen all labels.

    Attributes
    ----------
    data : Labeled
        With all labels.
    judge : Judge
    unpenalized : Unpenalized or None
        Of the answer at landmarks; fitted.
    single : bool
        The targets came as a vector.
    rng : Generator
    stream : Stream
    seconds : float or None
        To compare kernels in cells for; None where there are to be no cells.
    """

    data: Labeled
    judge: Judge
    unpenalized: Unpenalized | None
    single: bool
    rng: np.random.Generator
    stream: Stream
    seconds: float | None = None

    def __call__(self, blend: Blend, twin: Blend) -> Average | PreparedFit | InCells:
        """The answer; the twin's where nothing of the average fits at landmarks."""
        l = len(self.data.y)
        if l <= len(blend.entries[0].left_out):
            return self._average(blend)
        answers: list[Average | PreparedFit | InCells] = []
        if self.seconds is not None:
            answers.append(self._in_cells)
        limit = parse_bytes(self.stream.memory_limit)
        if l <= DUAL_LABELS and 8 * DUAL_MATRICES * l * l <= limit:
            answers.append(self._average(self._on_all_labels(blend)))
        else:
            candidates = self._for_landmarks(blend) or self._for_landmarks(twin)
            if answers and l > LANDMARK_LABELS:
                candidates = [each for each in candidates if each.unlabeled]
            answers += self._at_landmarks(candidates)
        return min(answers, key=self._error)

    def _average(self, blend: Blend) -> Average:
        limits = self.judge.limits(self.data)
        return Average(blend, self.data, self.single, self.stream, limits)

    @cached_property
    def _in_cells(self) -> InCells:
        """One for the average and for the twin, which has no part in unlabeled rows."""
        return fit_in_cells(
            self.data,
            self.judge,
            single=self.single,
            rng=self.rng,
            stream=self.stream,
            seconds=self.seconds or 0.0,
        )

    def _error(self, answer: Average | PreparedFit | InCells) -> float:
        """Mean squared error of left-out rows."""
        if isinstance(answer, PreparedFit):
            return answer.fit.loo_score
        losses = squared_losses(answer.left_out[None], self.data.y)[0]
        return float(np.average(losses, weights=self.data.w))

    def _on_all_labels(self, blend: Blend) -> Blend:
        parts: dict[Part, Part] = {}
        entries = []
        for entry in self._weightiest(blend)[:KEPT]:
            candidate = entry.candidate.on(self.data, parts)
            left_out = candidate.left_out()  # at every alpha: more labels need less
            losses = self.judge.losses(left_out, self.data)
            at_alphas = zip(ALPHAS, left_out, losses, strict=True)
            entries += [Entry(candidate, *at_alpha) for at_alpha in at_alphas]
        weights = self.judge.weights(entries, self.data)
        return Blend(entries, weights).settled()

    def _at_landmarks(self, candidates: list[Candidate]) -> list[PreparedFit]:
        return [
            at_landmarks(
                candidate,
                self.data,
                unpenalized=self.unpenalized,
                single=self.single,
                rng=self.rng,
                stream=self.stream,
            )
            for candidate in candidates
        ]

    def _for_landmarks(self, blend: Blend) -> list[Candidate]:
        """The best that uses unlabeled rows, and the best that does not."""
        of_a_kind: dict[bool, Candidate] = {}
        for entry in self._weightiest(blend):
            known = isinstance(entry.candidate.mix[0][0], ProblemPart)
            if not known:
                of_a_kind.setdefault(entry.candidate.unlabeled, entry.candidate)
        return list(of_a_kind.values())

    def _weightiest(self, blend: Blend) -> list[Entry]:
        """The best entry of each candidate whose targets are as they are."""
        shares: dict[Candidate, float] = {}
        best: dict[Candidate, tuple[float, Entry]] = {}
        for entry, weight in zip(blend.entries, blend.weights, strict=True):
            candidate = entry.candidate
            if (
                candidate.data.target is not self.data.target
                or candidate.by_folds is not None
            ):
                continue
            shares[candidate] = shares.get(candidate, 0.0) + float(weight)
            if candidate not in best or weight > best[candidate][0]:
                best[candidate] = float(weight), entry
        order = sorted(shares, key=lambda each: -shares[each])
        return [best[candidate][1] for candidate in order]

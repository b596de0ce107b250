"""From the labels that candidates were compared on to all labels there are.

===================  ================================================================
labels               the answer is
===================  ================================================================
all were compared    the average itself
up to 2,000          its two weightiest candidates, fitted to all labels
more                 the best of its candidates that can be fitted at landmarks
===================  ================================================================

"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from halfmoon.blocks import Stream
from halfmoon.candidates.average import Average
from halfmoon.candidates.blend import Blend, Entry
from halfmoon.candidates.candidate import ALPHAS, Candidate
from halfmoon.candidates.judges import Judge
from halfmoon.candidates.labeled import Labeled
from halfmoon.candidates.landmarks import PreparedFit, at_landmarks
from halfmoon.candidates.parts import Part, ProblemPart
from halfmoon.memory import parse_bytes
from halfmoon.unpenalized import Unpenalized

__all__ = ["Finish"]

KEPT = 2
DUAL_LABELS = 2_000
DUAL_MATRICES = 4  # of labels by labels, held at once


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
    """

    data: Labeled
    judge: Judge
    unpenalized: Unpenalized | None
    single: bool
    rng: np.random.Generator
    stream: Stream

    def __call__(self, blend: Blend, twin: Blend) -> Average | PreparedFit:
        """The answer; the twin's where nothing of the average fits at landmarks."""
        l = len(self.data.y)
        if l > len(blend.entries[0].left_out):
            limit = parse_bytes(self.stream.memory_limit)
            if l > DUAL_LABELS or 8 * DUAL_MATRICES * l * l > limit:
                candidates = self._for_landmarks(blend) or self._for_landmarks(twin)
                return self._at_landmarks(candidates)
            blend = self._on_all_labels(blend)
        limits = self.judge.limits(self.data)
        return Average(blend, self.data, self.single, self.stream, limits)

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

    def _at_landmarks(self, candidates: list[Candidate]) -> PreparedFit:
        fits = [
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
        return min(fits, key=lambda each: each.fit.loo_score)

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

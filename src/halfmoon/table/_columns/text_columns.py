r"""Encoder of a column of texts: tf-idf of words or n-grams, then a truncated SVD.

Long texts are split into words. Short ones, such as names and places, are split into
3-grams and 4-grams of characters, so that similar spellings are close. With c the
counts of the most frequent terms in a text, n the number of texts and f the number of
texts with each term,

.. math:: x = \sqrt[3]{c} \odot (1 + \log((1 + n) / (1 + f))), \quad z = V^T x / \|x\|

where the columns of V are the leading right singular vectors of all texts, scaled so
that the variances of z sum to 1 (latent semantic analysis). Without the root, the words
that a text repeats most often, which are seldom those that tell its class, outweigh all
others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import randomized_svd

from halfmoon._rows import Array

__all__ = ["TextEncoder"]

WORDS: dict[str, Any] = {"analyzer": "word", "ngram_range": (1, 1)}
CHARACTERS: dict[str, Any] = {"analyzer": "char_wb", "ngram_range": (3, 4)}

MIN_WORD_LENGTH = 60  # characters of an average text that is split into words
MIN_SPACES = 5  # in such a text: some languages do not put spaces between words
MAX_CHARACTERS = 4_000_000  # in the texts that terms are chosen from
MAX_TERMS = 10_000
MAX_FIT_ROWS = 10_000  # for the singular vectors
MAX_BATCH = 4_096  # texts encoded at once
MIN_COMPONENTS, MAX_COMPONENTS = 60, 200
LABELS_PER_COMPONENT = 5  # between these bounds
SVD_ITERATIONS = 5
MIN_SINGULAR_VALUE = 1e-4  # relative to the largest; below it is rounding


@dataclass
class TextEncoder:
    """Encodes a column of texts."""

    name: str
    words: bool  # whether terms are words; n-grams of characters otherwise
    terms: list[str]  # p of them
    idf: Array  # (p,), weights of the terms
    components: Array  # (k, p), V above, transposed

    @classmethod
    def fit(
        cls,
        name: str,
        x: pd.Series,
        max_components: int,
        seed: int = 0,
        n_labels: int | None = None,
    ) -> TextEncoder:
        """Learn the terms and components of a column of categories.

        `seed` is for the randomized SVD. `n_labels` is the number of labels to learn
        from, None for enough.
        """
        texts = x.cat.categories.to_numpy()
        lengths = np.array([len(text) for text in texts])
        spaces = np.array([text.count(" ") for text in texts])
        long = bool(lengths.mean() > MIN_WORD_LENGTH and spaces.mean() > MIN_SPACES)
        step = max(1, -(-int(lengths.sum()) // MAX_CHARACTERS))
        words, terms = _terms(texts[::step], long)
        codes = x.cat.codes.to_numpy()
        some = codes[:: -(-len(codes) // MAX_FIT_ROWS)]
        if (some < 0).all():  # nearly all texts are missing
            some = codes
        distinct, rows = np.unique(some, return_inverse=True)
        counts = _counts(np.append(texts, "")[distinct], words, terms)[rows]
        frequency = np.bincount(counts.indices, minlength=len(terms))
        idf = 1 + np.log((1 + len(some)) / (1 + frequency))
        X = _tfidf(counts, idf)
        k = MAX_COMPONENTS
        if n_labels is not None:
            k = int(np.clip(n_labels // LABELS_PER_COMPONENT, MIN_COMPONENTS, k))
        k = min(k, max_components, *X.shape)
        _, s, V = randomized_svd(X, k, n_iter=SVD_ITERATIONS, random_state=seed)
        components = V[s > MIN_SINGULAR_VALUE * s[0]]
        scale = np.sqrt((X @ components.T).var(axis=0).sum())
        scale = scale if scale > 10 * np.finfo(np.float32).eps else 1.0
        return cls(name, words, terms, idf, components / np.float32(scale))

    @property
    def names(self) -> list[str]:
        """Names of the output columns."""
        k = len(self.components)
        return [f"{self.name}_{i:0{len(str(k - 1))}}" for i in range(k)]

    def transform(self, x: pd.Series) -> Array:
        """Return the output columns, shape (b, k); each distinct text is encoded once.

        A missing text has none of the terms, and becomes 0.
        """
        texts = [*x.cat.categories, ""]
        batches = [
            _tfidf(_counts(texts[i : i + MAX_BATCH], self.words, self.terms), self.idf)
            @ self.components.T
            for i in range(0, len(texts), MAX_BATCH)
        ]
        return np.vstack(batches)[x.cat.codes.to_numpy()]  # -1, the last, if missing


def _terms(texts: Sequence[str], long: bool) -> tuple[bool, list[str]]:
    """Return whether terms are words, and those that two texts share, or else all."""
    for words in (True, False) if long else (False,):
        for min_df in (2, 1):
            options = WORDS if words else CHARACTERS
            counter = CountVectorizer(min_df=min_df, max_features=MAX_TERMS, **options)
            try:
                return words, counter.fit(texts).get_feature_names_out().tolist()
            except ValueError:  # no term is in so many texts
                continue
    raise ValueError("The texts have no terms: no letter, digit or sign.")


def _counts(texts: Sequence[str], words: bool, terms: list[str]) -> Any:
    """Return how often each text has each term, a CSR matrix of shape (b, p)."""
    options = WORDS if words else CHARACTERS
    counter = CountVectorizer(vocabulary=terms, dtype=np.float32, **options)
    return counter.transform(texts)


def _tfidf(counts: Any, idf: Array) -> Any:
    X = counts.copy()
    X.data = np.cbrt(X.data)
    return normalize(X.multiply(idf[None].astype(np.float32)).tocsr())

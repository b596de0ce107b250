"""Texts as vectors: the parts that they share with others, and their directions.

Texts of some length are taken as words; short ones, such as names and places, as runs
of three and four letters, so that what is spelled alike is near. Of these the most
frequent are kept, weighed by how rare they are (tf-idf), and of the rows that result
the leading directions (latent semantic analysis).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer
from skrub import StringEncoder

__all__ = ["text_encoder"]

WORDS: dict[str, Any] = {"analyzer": "word", "ngram_range": (1, 1)}
RUNS: dict[str, Any] = {"analyzer": "char_wb", "ngram_range": (3, 4)}

LONG = 60  # characters of an average text that is taken as words
SPACES = 5  # and blanks in it: some languages have none
MOST_CHARACTERS = 4_000_000  # that parts of texts are found in
MOST_PARTS = 10_000  # that texts are described by, before directions are found
NAME_COMPONENTS = (8, 30)  # directions of short texts, at least and at most
LABELS_FOR_NAMES = 10  # for each: with fewer labels they are noise beside numbers
TEXT_COMPONENTS = 60  # of long ones, which often say all that there is to know


def text_encoder(
    x: pd.Series, most_components: int, seed: int, labels: int | None = None
) -> StringEncoder:
    """An encoder for a column of texts, with its parts but not yet its directions.

    Parameters
    ----------
    x : Series of categories
    most_components : int
        Directions, at most.
    seed : int
        Where the search for directions starts.
    labels : int or None
        How many there are to learn from; None for as many as are needed.
    """
    texts = x.cat.categories.to_numpy()
    lengths = np.array([len(text) for text in texts] or [0])
    spaces = np.array([text.count(" ") for text in texts] or [0])
    long = lengths.mean() > LONG and spaces.mean() > SPACES
    # From all over the column, no more than can be looked through.
    step = max(1, -(-int(lengths.sum()) // MOST_CHARACTERS))
    options, parts = _shared_parts(texts[::step], [WORDS, RUNS] if long else [RUNS])
    least, most = NAME_COMPONENTS
    names = most if labels is None else np.clip(labels // LABELS_FOR_NAMES, least, most)
    wanted = TEXT_COMPONENTS if long else int(names)
    return StringEncoder(
        n_components=min(wanted, most_components),
        vocabulary=parts,
        random_state=seed,
        **options,
    )


def _shared_parts(
    texts: Any, ways: list[dict[str, Any]]
) -> tuple[dict[str, Any], dict[str, int] | None]:
    """Parts that two texts have in common, or else all, and the way they were cut."""
    for options in ways:
        for least in (2, 1):
            counter = CountVectorizer(min_df=least, max_features=MOST_PARTS, **options)
            try:
                counter.fit(texts)
            except ValueError:  # no part is in so many texts
                continue
            parts = sorted(counter.vocabulary_)
            return options, {part: number for number, part in enumerate(parts)}
    return RUNS, None

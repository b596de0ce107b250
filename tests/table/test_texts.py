import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

from halfmoon.table import texts
from halfmoon.table.texts import text_encoder

WORDS = ["sun", "moon", "tide", "harbor", "engine", "valve", "piston", "gear"]


@pytest.fixture
def long_texts():
    """Of two topics: four words each, in any order."""
    rng = np.random.default_rng(0)
    topic = np.arange(80) % 2
    text = [" ".join(rng.choice(WORDS[4 * k : 4 * k + 4], 20)) for k in topic]
    return topic, pd.Series(pd.Categorical(text), name="t")


def test_long_texts_are_words_by_their_leading_directions(long_texts):
    topic, x = long_texts
    encoder = text_encoder(x, 3, 0)
    assert encoder.analyzer == "word"
    assert sorted(encoder.vocabulary) == sorted(WORDS)
    Z = encoder.fit_transform(x.astype(str)).to_numpy()
    by_hand = TruncatedSVD(3, random_state=0).fit_transform(
        TfidfVectorizer().fit_transform(x.astype(str))
    )
    ratio = np.linalg.norm(by_hand, axis=0) / np.linalg.norm(Z, axis=0)
    assert_allclose(ratio, ratio[0], rtol=1e-3)  # one scale for all directions
    assert_allclose(np.abs(Z) * ratio[0], np.abs(by_hand), atol=1e-3)
    nearest = np.linalg.norm(Z[:, None] - Z[None], axis=2) + 1e9 * np.eye(80)
    assert (topic[nearest.argmin(axis=1)] == topic).all()


def test_names_are_runs_of_letters():
    names = [f"{a}{b}" for a in ("North", "South", "West") for b in ("ham", "ton")]
    x = pd.Series(pd.Categorical(names * 3))
    encoder = text_encoder(x, 4, 0)
    assert encoder.analyzer == "char_wb"
    assert encoder.n_components == 4
    assert {"ham", "ton ", "nort"} <= set(encoder.vocabulary)


@pytest.mark.parametrize(
    ("labels", "directions"), [(5, 8), (200, 20), (5_000, 30), (None, 30)]
)
def test_names_have_few_directions_where_labels_are_few(labels, directions):
    x = pd.Series(pd.Categorical([f"place{i}" for i in range(50)]))
    assert text_encoder(x, 100, 0, labels).n_components == directions


def test_parts_are_bounded_to_the_most_frequent(long_texts, monkeypatch):
    _, x = long_texts
    monkeypatch.setattr(texts, "MOST_PARTS", 4)
    assert len(text_encoder(x, 3, 0).vocabulary) == 4


def test_texts_that_share_nothing_have_parts_all_the_same():
    x = pd.Series(pd.Categorical(["abcd", "efgh", "ijkl"]))
    assert "abc" in text_encoder(x, 2, 0).vocabulary
    marks = pd.Series(pd.Categorical([". " * 50, "! " * 50]))  # no word at all
    encoder = text_encoder(marks, 2, 0)
    assert encoder.analyzer == "char_wb"
    assert encoder.vocabulary


def test_languages_without_blanks_are_runs_of_letters():
    x = pd.Series(
        pd.Categorical(["春眠不覺曉處處聞啼鳥" * 8, "夜來風雨聲花落知多少" * 8])
    )
    assert text_encoder(x, 2, 0).analyzer == "char_wb"

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

from halfmoon.table._columns import text_columns
from halfmoon.table._columns.text_columns import TextEncoder

WORDS = ["sun", "moon", "tide", "harbor", "engine", "valve", "piston", "gear"]


def column(texts):
    return pd.Series(pd.Categorical(texts), name="t")


def tfidf_of_roots(x, **options):
    """Return what scikit-learn makes of the cube roots of the counts."""
    counts = CountVectorizer(**options).fit_transform(x.astype(str)).astype(float)
    counts.data = counts.data ** (1 / 3)
    return TfidfTransformer().fit_transform(counts)


@pytest.fixture
def long_texts():
    """Two topics of four words each, in any order."""
    rng = np.random.default_rng(0)
    topic = np.arange(80) % 2
    text = [" ".join(rng.choice(WORDS[4 * k : 4 * k + 4], 20)) for k in topic]
    return topic, column(text)


def test_long_texts_are_the_leading_components_of_their_words(long_texts):
    topic, x = long_texts
    encoder = TextEncoder.fit("t", x, 3)
    assert encoder.words
    assert encoder.terms == sorted(WORDS)
    Z = encoder.transform(x)
    expected = TruncatedSVD(3, random_state=0).fit_transform(tfidf_of_roots(x))
    expected /= np.sqrt(expected.var(axis=0).sum())
    assert_allclose(np.abs(Z), np.abs(expected), atol=1e-3)
    assert_allclose(Z.var(axis=0).sum(), 1, rtol=1e-5)
    nearest = np.linalg.norm(Z[:, None] - Z[None], axis=2) + 1e9 * np.eye(80)
    assert (topic[nearest.argmin(axis=1)] == topic).all()


def test_names_are_n_grams():
    names = [f"{a}{b}" for a in ("North", "South", "West") for b in ("ham", "ton")]
    encoder = TextEncoder.fit("t", column(names * 3), 4)
    assert not encoder.words
    assert encoder.names == ["t_0", "t_1", "t_2", "t_3"]
    assert {"ham", "ton ", "nort"} <= set(encoder.terms)


@pytest.mark.parametrize("long", [True, False])
@pytest.mark.parametrize(
    ("n_labels", "k"), [(5, 60), (500, 100), (5_000, 200), (None, 200)]
)
def test_texts_have_more_components_if_labels_are_many(long, n_labels, k):
    texts = random_texts(250, 12)
    if long:
        texts = [" ".join(words) for words in random_texts(7_500, 3).reshape(250, 30)]
    encoder = TextEncoder.fit("t", column(texts), 300, 0, n_labels)
    assert encoder.words == long
    assert len(encoder.names) == k


def random_texts(n, length):
    letters = np.random.default_rng(0).choice(list("abcdefgh"), (n, length))
    return np.array(["".join(row) for row in letters])


def test_terms_are_bounded_to_the_most_frequent(long_texts, monkeypatch):
    _, x = long_texts
    monkeypatch.setattr(text_columns, "MAX_TERMS", 4)
    assert len(TextEncoder.fit("t", x, 3).terms) == 4


def test_the_rows_of_the_svd_are_bounded(long_texts, monkeypatch):
    _, x = long_texts
    monkeypatch.setattr(text_columns, "MAX_FIT_ROWS", 20)
    some = TextEncoder.fit("t", x, 3)
    assert_allclose(some.transform(x.iloc[::4]).var(axis=0).sum(), 1, rtol=1e-5)
    missing = x.where(np.arange(80) % 4 > 0)  # in each of the 20 rows
    assert_allclose(TextEncoder.fit("t", missing, 3).transform(missing)[::4], 0)


def test_batches_do_not_matter(long_texts, monkeypatch):
    _, x = long_texts
    encoder = TextEncoder.fit("t", x, 3)
    expected = encoder.transform(x)
    monkeypatch.setattr(text_columns, "MAX_BATCH", 7)
    assert_allclose(encoder.transform(x), expected, atol=1e-6)


def test_texts_that_share_no_term_keep_all_of_theirs():
    encoder = TextEncoder.fit("t", column(["abcd", "efgh", "ijkl"]), 2)
    assert "abc" in encoder.terms
    marks = TextEncoder.fit("t", column([". " * 50, "! " * 50]), 2)  # no word at all
    assert not marks.words
    assert marks.terms


def test_distances_are_kept_if_rows_are_fewer_than_components():
    x = column(["North Street", "South Street", "West Road", "West Street"])
    Z = TextEncoder.fit("t", x, 30).transform(x)
    X = tfidf_of_roots(x, analyzer="char_wb", ngram_range=(3, 4), min_df=2).toarray()
    ratio = np.linalg.norm(X[:, None] - X, axis=2) / np.sqrt(X.var(axis=0).sum())
    assert_allclose(np.linalg.norm(Z[:, None] - Z, axis=2), ratio, atol=1e-5)


def test_directions_in_which_no_text_differs_are_left_out():
    texts = [f"{a}{b}" for a in ("North", "South") for b in ("ham", "ton", "by")]
    encoder = TextEncoder.fit("t", column(texts * 20), 30)
    assert len(encoder.terms) > len(encoder.names) == 4


def test_a_single_shared_word_is_a_column():
    other = [" ".join(f"{i}{chr(97 + j)}x" for j in range(20)) for i in range(3)]
    texts = [f"moon {other[0]}", f"{other[1]} moon", other[2]]
    encoder = TextEncoder.fit("t", column(texts), 30)
    assert encoder.terms == ["moon"]
    Z = encoder.transform(column(texts))
    assert Z.shape == (3, 1)
    assert_array_equal(np.sort(Z[:, 0] != 0), [False, True, True])


def test_languages_without_spaces_are_n_grams():
    x = column(["春眠不覺曉處處聞啼鳥" * 8, "夜來風雨聲花落知多少" * 8])
    assert not TextEncoder.fit("t", x, 2).words

"""Texts: tiny files in the formats of the real ones, letter by letter."""

import gzip
import os

import numpy as np
import pytest
from experiments.data.real_texts import escape
from numpy.testing import assert_array_equal

from experiments import data as datasets


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HALFMOON_DATA", str(tmp_path))
    return tmp_path


def write(path, text):
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress(text.encode("utf-8")))


def test_20news_gives_back_the_signs_that_end_lines(folder):
    write(
        folder / "20news/20news-bydate-train.tsv.gz",
        "sci.space\tFrom: a\u2028\u2028one\u2003two\u2029\u2028\n"
        "alt.atheism\tcaf\u00e9\x0c\x1c\x85 no end\n",
    )
    write(folder / "20news/20news-bydate-test.tsv.gz", "sci.med\t\nsci.med\tx\ty\n")
    texts, labels = datasets.load_20news("train")
    assert texts == ["From: a\n\none\ttwo\r\n", "caf\u00e9\x0c\x1c\x85 no end"]
    assert_array_equal(labels, ["sci.space", "alt.atheism"])
    texts, labels = datasets.load_20news("test")
    assert texts == ["", "x\ty"]
    texts, labels = datasets.load_20news("all")
    assert len(texts) == 4
    assert_array_equal(labels[2:], ["sci.med", "sci.med"])


def test_escape_leaves_one_line_that_reads_back(folder):
    text = "a\tb\r\nc\n\n"
    line = escape(text)
    assert not set(line) & set("\t\r\n")
    write(folder / "20news/20news-bydate-train.tsv.gz", f"l\t{line}\n")
    assert datasets.load_20news("train")[0] == [text]


def test_webkb_reads_parts_in_order(folder):
    write(folder / "webkb/webkb-train-stemmed.txt.gz", "student\tone two\ncourse\t\n")
    write(folder / "webkb/webkb-test-stemmed.txt.gz", "faculty\tthree\n")
    texts, labels = datasets.load_webkb("all")
    assert texts == ["one two", "", "three"]
    assert_array_equal(labels, ["student", "course", "faculty"])
    assert datasets.load_webkb("test")[0] == ["three"]
    assert datasets.load_webkb()[0] == ["one two", ""]


def test_webkb_pages_have_four_fields(folder):
    write(
        folder / "webkb/webkb-pages.tsv.gz",
        "course\tcornell\thttp:^^cs.edu^a.html\tServer: x\u2028\u2028<p>a\u2003^b\n",
    )
    pages, labels, universities, urls = datasets.load_webkb_pages()
    assert pages == ["Server: x\n\n<p>a\t^b"]
    assert (labels[0], universities[0]) == ("course", "cornell")
    assert urls == ["http://cs.edu/a.html"]


def test_imdb_has_names(folder):
    write(
        folder / "imdb_polarity/review_polarity.tsv.gz",
        "neg\tcv000_1.txt\tbad . \u2028very bad .\npos\tcv999_2.txt\tgood .\n",
    )
    texts, labels, names = datasets.load_imdb()
    assert texts == ["bad . \nvery bad .", "good ."]
    assert_array_equal(labels, ["neg", "pos"])
    assert names == ["cv000_1.txt", "cv999_2.txt"]


def test_twitter_takes_the_rows_of_a_part(folder):
    (folder / "twitter_semeval2013").mkdir()
    np.savez_compressed(
        folder / "twitter_semeval2013/counts.npz",
        data=np.array([1, 2, 300, 4], np.int16),
        indices=np.array([0, 2, 1, 0], np.int32),
        indptr=np.array([0, 2, 3, 3, 4], np.int32),
        shape=np.array([4, 3]),
        y=np.array([0, 2, 1, 2], np.int8),
        part=np.array([0, 1, 2, 0], np.int8),
        names=np.array(["negative", "neutral", "positive"]),
    )
    dense = np.array([[1, 0, 2], [0, 300, 0], [0, 0, 0], [4, 0, 0]])
    words = np.array(["negative", "positive", "neutral", "positive"])
    for part, rows in (
        ("train", [0, 3]),
        ("dev", [1]),
        ("test", [2]),
        ("all", [0, 1, 2, 3]),
    ):
        counts, labels = datasets.load_twitter(part)
        assert counts.format == "csr"
        assert_array_equal(counts.toarray(), dense[rows])
        assert_array_equal(labels, words[rows])
    counts, _ = datasets.load_twitter("dev")
    assert (counts @ counts.T).toarray() == 90_000  # beyond int16
    with pytest.raises(ValueError, match="choose one of train, dev, test or all"):
        datasets.load_twitter("valid")


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("HALFMOON_DATA"), reason="needs HALFMOON_DATA")
def test_real_files_have_the_known_sizes():
    from sklearn.feature_extraction.text import CountVectorizer

    texts, labels = datasets.load_20news("train")
    # The shape that scikit-learn's own tests expect of this collection.
    assert CountVectorizer().fit_transform(texts).shape == (11_314, 130_107)
    assert np.unique(labels).size == 20
    assert len(datasets.load_20news("test")[0]) == 7_532
    texts, labels = datasets.load_webkb("all")
    names, counts = np.unique(labels, return_counts=True)
    assert dict(zip(names, counts, strict=True)) == {
        "course": 930,
        "faculty": 1_124,
        "project": 504,
        "student": 1_641,
    }
    pages, labels, universities, urls = datasets.load_webkb_pages()
    assert len(pages) == len(urls) == 8_281
    assert (labels == "student").sum() == 1_641
    assert np.unique(universities).size == 5
    texts, labels, names = datasets.load_imdb()
    assert (labels == "neg").sum() == (labels == "pos").sum() == 1_000
    assert len(set(names)) == 2_000
    assert datasets.load_twitter("train")[0].shape == (9_684, 33_149)
    assert datasets.load_twitter("dev")[0].shape == (1_654, 33_149)
    assert datasets.load_twitter("test")[0].shape == (3_547, 33_149)

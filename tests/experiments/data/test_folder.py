"""What is said where a data set is not there."""

import re

import pytest
from experiments.data.sources import SOURCES

from experiments.data import DataNotFound, find, load_mnist, load_usps


def test_no_folder_says_what_to_set_and_what_to_run(monkeypatch):
    monkeypatch.delenv("HALFMOON_DATA", raising=False)
    with pytest.raises(DataNotFound) as caught:
        load_mnist()
    message = str(caught.value)
    assert isinstance(caught.value, FileNotFoundError)
    assert "mnist/train-images-idx3-ubyte.gz" in message
    assert "HALFMOON_DATA is not set" in message
    assert "python -m experiments.data download mnist" in message


def test_an_empty_variable_is_one_that_is_not_set(monkeypatch):
    monkeypatch.setenv("HALFMOON_DATA", "")
    with pytest.raises(DataNotFound, match="is not set"):
        find("covtype")


def test_no_file_says_where_it_was_looked_for(tmp_path, monkeypatch):
    monkeypatch.setenv("HALFMOON_DATA", str(tmp_path))
    (tmp_path / "mnist").mkdir()
    (tmp_path / "mnist/train-images-idx3-ubyte.gz").touch()
    with pytest.raises(DataNotFound) as caught:
        load_mnist("all")
    message = str(caught.value)
    assert str(tmp_path / "mnist" / "train-labels-idx1-ubyte.gz") in message
    assert "HALFMOON_DATA must be the folder that holds" in message
    assert "download mnist" in message


def test_what_cannot_be_fetched_names_its_source(tmp_path, monkeypatch):
    monkeypatch.setenv("HALFMOON_DATA", str(tmp_path))
    with pytest.raises(DataNotFound) as caught:
        load_usps()
    message = str(caught.value)
    assert "halfmoon cannot fetch it by itself" in message
    assert "niuers/Learning-From-Data-A-Short-Course" in message
    assert SOURCES["usps"].files["usps/usps.npz"] in message


def test_find_gives_all_files_or_those_named(tmp_path, monkeypatch):
    monkeypatch.setenv("HALFMOON_DATA", str(tmp_path))
    for file in SOURCES["ssl_book"].files:
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).touch()
    assert len(find("ssl_book")) == 6
    one = find("ssl_book", "ssl_book/text1.npz")
    assert one == [tmp_path / "ssl_book/text1.npz"]
    with pytest.raises(ValueError, match=r"no data set named 'cifar'.*mnist, usps"):
        find("cifar")


def test_each_loader_has_a_source_of_its_name():
    from experiments import data as datasets

    loaders = {name for name in datasets.__all__ if name.startswith("load_")}
    assert loaders == {f"load_{name}" for name in SOURCES}
    sums = [digest for source in SOURCES.values() for digest in source.files.values()]
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in sums)
    assert len(set(sums)) == len(sums)

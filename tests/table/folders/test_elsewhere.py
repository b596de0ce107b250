"""Files of a folder that an engine fills: the same bytes as those of threads here."""

import pickle
from shutil import rmtree

import pytest

from halfmoon.partitions import InTurn
from halfmoon.table import Settings, fill_folder, predict_folder
from halfmoon.table.folders import one_file
from table.folders.test_fill_folder import outputs, write_partitions


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A folder of tables, and what filling them gave, soon."""
    place = tmp_path_factory.mktemp("finished")
    write_partitions(place / "in", ".parquet")
    settings = Settings("kind", budget=1.0)
    (filled,) = fill_folder(place / "in", place / "out", settings, engine=InTurn())
    filled.model.record_ = {"settings": {"unlabeled": ()}}
    return place, filled


class InAnotherProcess(InTurn):
    """As far as a process can tell: all that comes and goes is pickled."""

    def map(self, function, partitions):
        function = pickle.loads(pickle.dumps(function))
        for result in super().map(function, pickle.loads(pickle.dumps(partitions))):
            yield pickle.loads(pickle.dumps(result))


def test_an_engine_writes_the_same_bytes(finished, tmp_path, monkeypatch):
    place, filled = finished
    here = predict_folder(place / "in", tmp_path / "here", filled.model)
    monkeypatch.chdir(place)  # so that relative paths are made whole
    there = predict_folder(
        "in", tmp_path / "there", filled.model, engine=InAnotherProcess()
    )
    assert outputs(tmp_path / "there") == outputs(tmp_path / "here")
    assert there.tally.n == here.tally.n


def test_a_stopped_run_goes_on(finished, tmp_path, monkeypatch):
    place, filled = finished
    whole = tmp_path / "whole"
    predict_folder(place / "in", whole, filled.model)
    calls = []
    fill_file = one_file.fill_file

    def stops(*args):
        calls.append(args)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return fill_file(*args)

    monkeypatch.setattr(one_file, "fill_file", stops)
    with pytest.raises(KeyboardInterrupt):
        predict_folder(place / "in", tmp_path / "out", filled.model, engine=InTurn())
    predict_folder(
        place / "in", tmp_path / "out", filled.model, engine=InTurn(), resume=True
    )
    assert len(calls) == 3 + 2  # four files, two of them done by then
    assert outputs(tmp_path / "out") == outputs(whole)
    rmtree(tmp_path / "out")

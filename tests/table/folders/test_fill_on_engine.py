"""Files filled on an engine: the same bytes as from threads."""

import pickle
from shutil import rmtree

import pytest

from halfmoon.table import Settings, fill_folder, predict_folder
from halfmoon.table._folders import whole_folder
from helpers import InTurn
from table.folders.test_fill_folder import outputs, write_partitions


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A folder of tables, and its filled copy."""
    place = tmp_path_factory.mktemp("finished")
    write_partitions(place / "in", ".parquet")
    settings = Settings("kind", budget=1e-9)
    (filled,) = fill_folder(place / "in", place / "out", settings, engine=InTurn())
    filled.model.record_ = {"settings": {"unlabeled": ()}}
    return place, filled


class InAnotherProcess(InTurn):
    """An engine that pickles everything, as another process would."""

    def map(self, function, partitions):
        function = pickle.loads(pickle.dumps(function))
        for result in super().map(function, pickle.loads(pickle.dumps(partitions))):
            yield pickle.loads(pickle.dumps(result))


@pytest.mark.slow
def test_an_engine_writes_the_same_bytes(finished, tmp_path, monkeypatch):
    place, filled = finished
    here = predict_folder(place / "in", tmp_path / "here", filled.model)
    monkeypatch.chdir(place)  # to test relative paths
    there = predict_folder(
        "in", tmp_path / "there", filled.model, engine=InAnotherProcess()
    )
    assert outputs(tmp_path / "there") == outputs(tmp_path / "here")
    assert there.tally.n == here.tally.n


def test_a_stopped_run_can_be_resumed(finished, tmp_path, monkeypatch):
    place, filled = finished
    whole = tmp_path / "whole"
    predict_folder(place / "in", whole, filled.model)
    calls = []
    fill_file = whole_folder.fill_file

    def stops(*args):
        calls.append(args)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return fill_file(*args)

    monkeypatch.setattr(whole_folder, "fill_file", stops)
    with pytest.raises(KeyboardInterrupt):
        predict_folder(place / "in", tmp_path / "out", filled.model, engine=InTurn())
    predict_folder(
        place / "in", tmp_path / "out", filled.model, engine=InTurn(), resume=True
    )
    assert len(calls) == 3 + 2  # two of four files were done
    assert outputs(tmp_path / "out") == outputs(whole)
    rmtree(tmp_path / "out")

"""Folders of tables: one output for each file, as if all were one table."""

import json
import os
from copy import copy
from shutil import copytree

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from halfmoon.table import (
    Settings,
    TableError,
    fill_folder,
    open_table,
    predict_folder,
    predict_table,
)
from halfmoon.table._folders import whole_folder
from halfmoon.table._folders.folder_table import left_out_note, list_folder
from halfmoon.table._folders.manifest import Manifest
from halfmoon.table._run_settings import Stages
from halfmoon.table._runs.build_findings import findings_of
from halfmoon.table._runs.learn_from_table import learn
from halfmoon.table._table_errors import OutputError, ReadError
from helpers import InTurn

COUNTRIES = ("fr", "it")
NAME, NEW = (f"country=fr/part-{i}.parquet" for i in (0, 9))
WHOLE = Settings("kind", budget=1e-9)  # one candidate on every machine


def rows_of(seed, n=40, labels=12):
    """Rows of two classes that one column separates, most of them unlabeled."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    x += 0.3 * np.sign(x)  # a gap between the classes
    kind = np.where(x > 0, "up", "down").astype(object)
    kind[rng.permutation(n)[labels:]] = None
    return pa.table({"x": x, "size": rng.integers(0, 9, n), "kind": list(kind)})


def write(table, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    elif path.suffix == ".feather":
        feather.write_feather(table, path)
    else:
        table.to_pandas().to_csv(path, index=False)


def write_partitions(place, ending):
    """Two partitions with two files each, one of them without rows."""
    for i in range(4):
        n = 0 if i == 3 else 40
        name = f"country={COUNTRIES[i % 2]}/part-{i}{ending}"
        write(rows_of(i, n, min(n, 12)), place / name)
    (place / "_SUCCESS").write_text("")
    (place / ".halfmoon-0123456789ab.csv").write_text("half")
    (place / "readme.md").write_text("no table")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A folder of tables, its filled copy, and the model."""
    place = tmp_path_factory.mktemp("finished")
    write_partitions(place / "in", ".parquet")
    (filled,) = fill_folder(place / "in", place / "out", WHOLE)
    filled.model.record_ = {"settings": {"unlabeled": ()}}
    return place, filled


@pytest.fixture
def run(finished, tmp_path):
    """A copy of it in a temporary folder."""
    copytree(finished[0], tmp_path, dirs_exist_ok=True)
    return tmp_path


@pytest.fixture
def learned(finished, monkeypatch):
    """Reuse a fitted model, because learning takes seconds."""
    again = {"fitted": finished[1].model}
    monkeypatch.setattr(
        whole_folder, "learn", lambda *args, **options: learn(*args, **options | again)
    )


def outputs(place):
    """The files of an output folder by name, without the manifest."""
    return {
        path.relative_to(place).as_posix(): path.read_bytes()
        for path in sorted(place.rglob("*"))
        if path.is_file() and "_halfmoon" not in path.parts
    }


def check_files(folder, out, filled):
    files = list_folder(folder)
    assert list(outputs(out)) == [file.name for file in files]
    assert filled.tally.n == 3 * 28
    assert filled.scan.n_labeled == 36
    assert "country" in [use.name for use in filled.model.columns_.used]
    for file in files:
        with open_table(file.path) as old, open_table(out / file.name) as new:
            added = ("kind_source", "kind_confidence")
            assert new.columns == (*old.columns, *added)
            before = [row for batch in old.batches() for row in batch.rows.to_pylist()]
            after = [row for batch in new.batches() for row in batch.rows.to_pylist()]
        if not old.is_text:
            types = [
                pa.string() if pa.types.is_null(t) else t for t in old.schema.types
            ]
            assert new.schema.types[:3] == types
        assert len(before) == len(after)
        for row, filled_row in zip(before, after, strict=True):
            assert (filled_row["x"], filled_row["size"]) == (row["x"], row["size"])
            if row["kind"]:
                assert filled_row["kind"] == row["kind"]
                assert filled_row["kind_source"] == "given"
            else:
                # The label is a function of x, which 36 labels determine.
                right = "up" if float(row["x"]) > 0 else "down"
                assert filled_row["kind"] == right
                assert filled_row["kind_source"] == "predicted"


def test_each_file_is_written_with_its_rows(finished):
    place, filled = finished
    check_files(place / "in", place / "out", filled)


@pytest.mark.parametrize("ending", [".feather", ".csv"])
def test_other_formats(tmp_path, learned, ending):
    write_partitions(tmp_path / "in", ending)
    (filled,) = fill_folder(tmp_path / "in", tmp_path / "out", WHOLE)
    check_files(tmp_path / "in", tmp_path / "out", filled)


def test_a_folder_is_filled_like_one_table(finished, tmp_path):
    place, many = finished
    files = list_folder(place / "in")
    tables = []
    for file in files:
        table = pq.read_table(file.path, partitioning=None)
        country = pa.repeat(file.partition[0][1], len(table))
        tables.append(table.append_column("country", country))
    both = pa.concat_tables(tables, promote_options="default")
    write(both, tmp_path / "all.parquet")
    with open_table(tmp_path / "all.parquet") as table:
        _, scan = learn(table, WHOLE, Stages(), fitted=many.model)
        one = predict_table(table, tmp_path / "one.parquet", many.model)
    assert many.scan.rows.to_pylist() == scan.rows.to_pylist()
    assert many.scan.labels == scan.labels
    np.testing.assert_array_equal(many.scan.numbers, scan.numbers)
    expected = pq.read_table(tmp_path / "one.parquet").drop_columns("country")
    out = [place / "out" / file.name for file in files]
    parts = [pq.read_table(path, partitioning=None) for path in out]
    assert pa.concat_tables(parts).to_pylist() == expected.to_pylist()
    assert many.tally.n == one.tally.n
    assert many.tally.classes == one.tally.classes
    assert many.tally.histogram.counts.tolist() == one.tally.histogram.counts.tolist()
    np.testing.assert_allclose(many.tally.total, one.tally.total, rtol=1e-12)
    np.testing.assert_array_equal(many.tally.unsure.doubt, one.tally.unsure.doubt)
    shown, twin = many.tally.unsure.row(3), one.tally.unsure.row(3)
    assert (shown.number, shown.cells) == (twin.number, twin.cells)
    assert shown.prediction.value == twin.prediction.value


@pytest.mark.parametrize("at_once", [2, 3])
def test_files_filled_at_once_give_the_same_output(
    finished, tmp_path, monkeypatch, at_once
):
    place, filled = finished
    for n in (1, at_once):
        monkeypatch.setattr(whole_folder, "files_at_once", lambda memory, n=n: n)
        predict_folder(place / "in", tmp_path / str(n), filled.model)
    assert outputs(tmp_path / "1") == outputs(tmp_path / str(at_once))
    assert outputs(tmp_path / "1") == outputs(place / "out")


class Stopped(Exception):
    """Stands for a kill in these tests."""


def stopping_after(monkeypatch, n):
    """Stop a run after some files."""
    real, calls = whole_folder.fill_file, []

    def fill_file(*given):
        calls.append(given)
        if len(calls) > n:
            raise Stopped
        return real(*given)

    monkeypatch.setattr(whole_folder, "fill_file", fill_file)
    return calls


def test_a_stopped_run_continues_where_it_was(finished, tmp_path, monkeypatch, learned):
    source, whole = finished[0] / "in", finished[1]
    out = tmp_path / "out"
    monkeypatch.setattr(whole_folder, "files_at_once", lambda memory: 1)
    with monkeypatch.context() as patch:
        stopping_after(patch, 2)
        with pytest.raises(Stopped):
            fill_folder(source, out, WHOLE)
    names = [file.name for file in list_folder(source)]
    assert list(outputs(out)) == names[:2]
    half = out / "country=fr" / ".halfmoon-0123456789ab.csv"
    half.write_text("half a file that a kill left")
    with monkeypatch.context() as patch:
        calls = stopping_after(patch, 4)
        (resumed,) = fill_folder(source, out, WHOLE, resume=True)
    assert [given[1].name for given in calls] == names[2:]
    assert not half.exists()
    assert outputs(out) == outputs(finished[0] / "out")
    assert resumed.tally.classes == whole.tally.classes
    assert resumed.tally.total == whole.tally.total
    np.testing.assert_array_equal(resumed.tally.unsure.doubt, whole.tally.unsure.doubt)
    # A finished run has nothing left to do.
    with monkeypatch.context() as patch:
        stopping_after(patch, 0)
        fill_folder(source, out, WHOLE, resume=True)


def test_a_resumed_run_has_findings(run):
    (filled,) = fill_folder(run / "in", run / "out", WHOLE, resume=True)
    found = findings_of(filled, WHOLE, source="in", command="", for_page=False)
    assert (found.rows, found.labeled, found.predicted) == (120, 36, 84)
    assert any(
        "country=fr/part-2.parquet begins with row 41" in str(note)
        for note in found.notes
    )


def test_a_truncated_output_is_written_again(run):
    expected = outputs(run / "out")
    (run / "out" / NAME).write_text("cut")
    fill_folder(run / "in", run / "out", WHOLE, resume=True)
    assert outputs(run / "out") == expected


def damaged(place):
    path = place / "_halfmoon" / "manifest.json"
    path.write_text(path.read_text()[:-9])


def other_model(place):
    path = place / "_halfmoon" / "model-1"
    path.write_bytes(path.read_bytes() + b"x")


def other_run(place):
    path = place / "_halfmoon" / "done" / "000000.json"
    record = json.loads(path.read_text())
    path.write_text(json.dumps({**record, "models": ["0"]}))


def nested(place):
    (place / "_halfmoon" / "manifest.json").write_text("[" * 100_000)


def other_inputs(place):
    path = place / "_halfmoon" / "manifest.json"
    path.write_text(path.read_text().replace('"name"', '"nam"'))


CHANGES = {
    "nested": ({"change": nested}, "manifest.json is damaged"),
    "inputs": ({"change": other_inputs}, "manifest.json is damaged"),
    "seed": (
        {"settings": Settings("kind", budget=1e-9, seed=1)},
        "began with seed 0, but now it is 1",
    ),
    "formulas": ({"formulas": "keep"}, "formulas 'escape', but now it is 'keep'"),
    "manifest": ({"change": damaged}, "manifest.json is damaged"),
    "model": ({"change": other_model}, "not the model that this run began with"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_run_resumes_only_with_the_same_options(run, what):
    change, words = CHANGES[what]
    change.get("change", lambda place: None)(run / "out")
    settings = change.get("settings", WHOLE)
    formulas = change.get("formulas", "escape")
    with pytest.raises(TableError, match=words):
        fill_folder(run / "in", run / "out", settings, formulas=formulas, resume=True)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda place: write(rows_of(9), place / NAME), "part-0.parquet changed since"),
        (lambda place: write(rows_of(9), place / NEW), "part-9.parquet is new since"),
        (lambda place: (place / NAME).unlink(), "part-0.parquet is gone since"),
    ],
)
def test_a_run_resumes_only_with_the_same_tables(run, change, words):
    change(run / "in")
    with pytest.raises(TableError, match=words):
        fill_folder(run / "in", run / "out", WHOLE, resume=True)


@pytest.mark.parametrize(
    ("old", "new"),
    [('"histogram": [', '"histogram": ["x", '), ("{", "["), ('"rows": ', '"rows": 9')],
)
def test_a_changed_record_of_a_file_does_not_count(run, old, new):
    expected = outputs(run / "out")
    path = run / "out" / "_halfmoon" / "done" / "000000.json"
    before = path.read_text()
    assert old in before
    path.write_text(before.replace(old, new, 1))
    found = fill_folder(run / "in", run / "out", WHOLE, resume=True)
    assert outputs(run / "out") == expected
    assert path.read_text() == before
    assert found


def test_what_a_killed_run_left_beside_the_output_is_found(run):
    old, young = run / f".halfmoon-{'a' * 12}.html", run / f".halfmoon-{'b' * 12}.html"
    for path in (old, young):
        path.write_text("half a report")
    os.utime(old, (1, 1))
    found = fill_folder(run / "in", run / "out", WHOLE, resume=True)
    assert not old.exists()
    assert young.exists()
    notes = [str(note) for note in found[0].notes]
    assert any(note.startswith("Removed 1 hidden file in") for note in notes)
    assert any(note.startswith(f"{young} was left by an earlier run") for note in notes)


def test_outputs_of_another_model_are_written_again(run):
    expected = outputs(run / "out")
    other_run(run / "out")
    (run / "out" / NAME).write_text("x" * len(expected[NAME]))
    fill_folder(run / "in", run / "out", WHOLE, resume=True)
    assert outputs(run / "out") == expected


def test_numbers_are_filled_and_predicted(tmp_path):
    rng = np.random.default_rng(0)
    for i in range(2):
        x = rng.normal(size=40)
        y = [v if j % 4 == 0 else None for j, v in enumerate(2 * x)]
        write(pa.table({"x": x, "y": y}), tmp_path / "in" / f"{i}.parquet")
    settings = Settings("y", budget=1e-9)
    (filled,) = fill_folder(tmp_path / "in", tmp_path / "out", settings)
    filled.model.record_ = {"settings": {"unlabeled": ()}}
    record = predict_folder(tmp_path / "in", tmp_path / "record", filled.model)
    assert outputs(tmp_path / "record") == outputs(tmp_path / "out")
    assert record.tally.n == 60
    assert record.scored.learned.n == 20
    assert not record.scored.is_test
    # Compare with the widths in both files.
    out = [pq.read_table(tmp_path / "out" / f"{i}.parquet") for i in range(2)]
    both = pa.concat_tables(out).to_pandas().query("y_source == 'predicted'")
    width = (both["y_high"] - both["y_low"]).mean()
    np.testing.assert_allclose(record.tally.mean, width, rtol=1e-2)
    resumed = predict_folder(
        tmp_path / "in", tmp_path / "record", filled.model, resume=True
    )
    assert resumed.scored.learned == record.scored.learned


def test_a_file_without_labels_has_a_column_without_type(finished, tmp_path):
    # That is what Arrow makes of a column of None.
    write(rows_of(5, labels=0), tmp_path / "in" / NAME)
    assert pa.types.is_null(pq.read_schema(tmp_path / "in" / NAME).field("kind").type)
    predict_folder(tmp_path / "in", tmp_path / "out", finished[1].model)
    filled = pq.read_table(tmp_path / "out" / NAME, partitioning=None)
    assert set(filled["kind"].to_pylist()) == {"up", "down"}


REFUSED = {
    "no table": ({"readme.md": "x"}, "out", "holds no table"),
    "nested": ({"a.csv": "x,kind\n1,a\n"}, "in/out", "input and output would mix"),
    "itself": ({"a.csv": "x,kind\n1,a\n"}, "in", "is the input"),
    "a file": ({"a.csv": "x,kind\n1,a\n"}, "file", "is a file, but the output"),
    "full": ({"a.csv": "x,kind\n1,a\n"}, "full", "is not empty"),
    "columns": (
        {"a.csv": "x,kind\n1,a\n", "b.csv": "x,y\n1,a\n"},
        "out",
        "other columns than",
    ),
    "empty": ({"a.csv": "x,kind\n1,a\n", "b.csv": ""}, "out", "b.csv is empty"),
    "partitions": (
        {"c=1/a.csv": "x,kind\n1,a\n", "d=1/b.csv": "x,kind\n1,a\n"},
        "out",
        "same names before =",
    ),
    "partition twice": (
        {"c=1/c=2/a.csv": "x,kind\n1,a\n"},
        "out",
        r"partitions \['c', 'c'\], in one of them twice",
    ),
    "twice": ({"x=1/a.csv": "x,kind\n1,a\n"}, "out", "so does its folder"),
    "target": ({"kind=1/a.csv": "x,y\n1,a\n"}, "out", "is a partition"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_impossible_folders_are_refused_before_anything_is_written(tmp_path, case):
    files, out, words = REFUSED[case]
    for name, text in files.items():
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "file").write_text("")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "a.csv").write_text("mine")
    with pytest.raises(TableError, match=words):
        fill_folder(tmp_path / "in", tmp_path / out, WHOLE)
    assert not (tmp_path / "out").exists()
    assert (tmp_path / "full" / "a.csv").read_text() == "mine"


def test_types_that_do_not_fit_are_refused(tmp_path):
    write(pa.table({"x": [1, 2], "kind": ["a", None]}), tmp_path / "in" / "a.parquet")
    odd = pa.table({"x": [[1], [2]], "kind": ["a", None]})
    write(odd, tmp_path / "in" / "b.parquet")
    with pytest.raises(TableError, match=r"b.parquet has a column of another type"):
        fill_folder(tmp_path / "in", tmp_path / "out", WHOLE)


def test_integers_in_one_file_and_decimals_in_another(tmp_path, learned):
    names = [f"country={name}/a.parquet" for name in COUNTRIES]
    large = 2**60 + 1  # not a float
    first, second = rows_of(0), rows_of(1)
    ids = pa.array([large + i for i in range(40)])
    write(first.append_column("id", ids), tmp_path / "in" / names[0])
    halves = pa.array([0.5] * 39 + [None])
    second = second.set_column(1, "size", second["size"].cast("float64"))
    write(second.append_column("id", halves), tmp_path / "in" / names[1])
    (filled,) = fill_folder(tmp_path / "in", tmp_path / "out", WHOLE)
    assert filled.tally.n == 2 * 28
    assert len(filled.tally.unsure) > 0
    for file, kind in zip(names, ("int64", "double"), strict=True):
        found = pq.read_table(tmp_path / "out" / file, partitioning=None)
        assert {str(found.schema.field(x).type) for x in ("size", "id")} == {kind}
        before = pq.read_table(tmp_path / "in" / file, partitioning=None)
        for name in ("x", "size", "id"):
            assert found[name].to_pylist() == before[name].to_pylist()


@pytest.mark.parametrize("column", ["word", "kind"])
def test_text_of_several_types(tmp_path, learned, column):
    types = [
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        pa.dictionary(pa.int32(), pa.string()),
    ]
    for i, kind in enumerate(types):
        rows = rows_of(i).append_column("word", pa.array(["a", "b"] * 20))
        place = rows.schema.get_field_index(column)
        rows = rows.set_column(place, column, rows[column].cast(kind))
        write(rows, tmp_path / "in" / "country=fr" / f"{i}.parquet")
    (filled,) = fill_folder(tmp_path / "in", tmp_path / "out", WHOLE)
    assert filled.tally.n == 4 * 28
    for i, kind in enumerate(types):
        before, after = (
            pq.ParquetFile(tmp_path / name / "country=fr" / f"{i}.parquet").read()
            for name in ("in", "out")
        )
        assert after.schema.field(column).type == kind
        assert after["word"].to_pylist() == before["word"].to_pylist()
        assert after["kind"].null_count == 0


def test_two_runs_do_not_write_to_one_folder(run, learned, monkeypatch):
    expected, refused = outputs(run / "out"), []
    begin = Manifest.begin

    def and_another(self, *args):
        saved = begin(self, *args)
        for options in ({"resume": True}, {"overwrite": True}):
            with pytest.raises(OutputError, match="Another run is writing to") as e:
                fill_folder(run / "in", run / "new", WHOLE, **options)
            refused.append(e)
        return saved

    with monkeypatch.context() as patched:
        patched.setattr(Manifest, "begin", and_another)
        fill_folder(run / "in", run / "new", WHOLE)
    assert len(refused) == 2
    assert outputs(run / "new") == expected
    fill_folder(run / "in", run / "new", WHOLE, resume=True)  # the lock is gone


def test_outputs_that_appear_while_learning_are_kept(run, learned, monkeypatch):
    def learn_and_write(*args, **options):
        write(rows_of(0), run / "new" / NAME)
        return learn(*args, **options)

    learn = whole_folder.learn
    monkeypatch.setattr(whole_folder, "learn", learn_and_write)
    with pytest.raises(OutputError, match="is not empty"):
        fill_folder(run / "in", run / "new", WHOLE)
    assert pq.read_table(run / "new" / NAME, partitioning=None) == rows_of(0)


@pytest.mark.parametrize("on_engine", [False, True])
def test_a_file_that_changes_between_the_passes(run, learned, monkeypatch, on_engine):
    begin = Manifest.begin

    def and_change(self, *args):
        write(rows_of(7), run / "in" / NAME)
        return begin(self, *args)

    monkeypatch.setattr(Manifest, "begin", and_change)
    engine = InTurn() if on_engine else None
    with pytest.raises(TableError, match=r"part-0.parquet changed while it was being"):
        fill_folder(run / "in", run / "new", WHOLE, engine=engine)
    with pytest.raises(TableError, match=r"part-0.parquet changed since the run"):
        fill_folder(run / "in", run / "new", WHOLE, resume=True)


def test_predictions_continue_only_with_the_same_model(finished, run):
    model = finished[1].model
    predict_folder(run / "in", run / "new", model)
    expected = outputs(run / "new")
    (run / "new" / NAME).unlink()
    other = copy(model)
    other.record_ = {"settings": {"unlabeled": ("?",)}}
    with pytest.raises(OutputError, match="began with another model"):
        predict_folder(run / "in", run / "new", other, resume=True)
    assert not (run / "new" / NAME).exists()
    predict_folder(run / "in", run / "new", model, resume=True)
    assert outputs(run / "new") == expected


@pytest.mark.parametrize("of_folder", [False, True])
def test_links_to_the_input_are_not_written_to(run, learned, of_folder):
    before = outputs(run / "in")
    (run / "new").mkdir()
    link, target = (run / "new" / "country=fr", run / "in" / "country=it")
    if not of_folder:
        link.mkdir()
        link, target = link / "part-0.parquet", target / "part-1.parquet"
    link.symlink_to(target)
    with pytest.raises(OutputError, match="never overwritten"):
        fill_folder(run / "in", run / "new", WHOLE, overwrite=True)
    assert outputs(run / "in") == before


def test_an_output_folder_that_cannot_be_created(run, learned):
    (run / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be created: Not a directory"):
        fill_folder(run / "in", run / "file" / "new", WHOLE)


def test_resuming_needs_a_manifest(tmp_path):
    write(rows_of(0), tmp_path / "in" / "0.csv")
    write(rows_of(0), tmp_path / "out" / "0.csv")
    with pytest.raises(TableError, match="no run to continue"):
        fill_folder(tmp_path / "in", tmp_path / "out", WHOLE, resume=True)
    with pytest.raises(TableError, match="Give one of them"):
        fill_folder(
            tmp_path / "in", tmp_path / "out", WHOLE, resume=True, overwrite=True
        )


def test_a_run_that_was_stopped_while_learning_starts_over(run, learned):
    expected = outputs(run / "out")
    place = run / "again" / "_halfmoon"
    place.mkdir(parents=True)
    (place / "model-1").write_text("half a model")
    fill_folder(run / "in", run / "again", WHOLE, resume=True)
    assert outputs(run / "again") == expected


def test_partition_names_are_decoded(tmp_path):
    text = "x,kind\n1,a\n"
    for name in ("day=2026%2F01", "day=__HIVE_DEFAULT_PARTITION__"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.csv").write_text(text)
    found = [file.partition for file in list_folder(tmp_path)]
    assert found == [(("day", "2026/01"),), (("day", None),)]


def test_links_to_other_folders_are_followed(tmp_path):
    write(rows_of(0), tmp_path / "in" / "0.csv")
    write(rows_of(1), tmp_path / "else" / "deep" / "1.csv")
    (tmp_path / "in" / "sub").symlink_to(tmp_path / "else")
    names = [file.name for file in list_folder(tmp_path / "in")]
    assert names == ["0.csv", "sub/deep/1.csv"]
    (tmp_path / "else" / "deep" / "back").symlink_to(tmp_path / "in")
    with pytest.raises(ReadError, match=r"back is a link to a folder that contains it"):
        list_folder(tmp_path / "in")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no named pipes")
def test_pipes_are_refused_instead_of_waited_for(tmp_path):
    write(rows_of(0), tmp_path / "0.csv")
    os.mkfifo(tmp_path / "1.csv")
    with pytest.raises(ReadError, match=r"1\.csv is not a file but a pipe"):
        list_folder(tmp_path)


def test_names_that_are_not_utf8(tmp_path):
    write(rows_of(0), tmp_path / "0.csv")
    (tmp_path / os.fsdecode(b"\xff.pdf")).touch()
    (note,) = left_out_note(tmp_path)
    assert r"left out: \xff.pdf." in note.text
    (tmp_path / os.fsdecode(b"\xff.csv")).touch()
    with pytest.raises(ReadError, match=r"The name of \\xff\.csv is not UTF-8"):
        list_folder(tmp_path)


@pytest.mark.parametrize("of_folder", [False, True])
def test_inputs_elsewhere_are_not_written_to(tmp_path, of_folder):
    write(rows_of(0), tmp_path / "in" / "0.csv")
    write(rows_of(1), tmp_path / "out" / "sub" / "1.csv")
    link = tmp_path / "in" / "sub"
    if of_folder:
        link.symlink_to(tmp_path / "out" / "sub")
    else:
        link.mkdir()
        (link / "2.csv").symlink_to(tmp_path / "out" / "sub" / "1.csv")
        write(rows_of(2), link / "1.csv")
    before = outputs(tmp_path / "out")
    with pytest.raises(OutputError, match="never overwritten"):
        fill_folder(tmp_path / "in", tmp_path / "out", WHOLE, overwrite=True)
    assert outputs(tmp_path / "out") == before


def test_other_files_are_named(finished, tmp_path):
    assert "1 other file of the folder was left out: readme.md." in "".join(
        note.text for note in finished[1].notes
    )
    for name in ("a.csv", "notes.txt", "b.xlsx", "c.csv.gz", "d.txt.gz"):
        (tmp_path / name).touch()
    assert [file.name for file in list_folder(tmp_path)] == ["a.csv", "c.csv.gz"]
    (note,) = left_out_note(tmp_path)
    assert "3 other files of the folder were left out: b.xlsx, d.txt.gz, notes.txt" in (
        note.text
    )
    for name in ("a.csv", "c.csv.gz"):
        (tmp_path / name).unlink()
    assert [file.name for file in list_folder(tmp_path)] == ["d.txt.gz", "notes.txt"]


def test_progress_ends_with_all_bytes(run, learned):
    told = []

    class Heard(Stages):
        def stage(self, name):
            return lambda done, total: told.append((name, done, total))

    fill_folder(run / "in", run / "new", WHOLE, stages=Heard())
    size = sum(file.path.stat().st_size for file in list_folder(run / "in"))
    filling = [(done, total) for name, done, total in told if name == "Filling in"]
    assert filling[-1] == (size, size)
    assert all(done <= total == size for done, total in filling)


@pytest.mark.parametrize("again", ["overwrite", "resume"])
def test_hidden_files_of_killed_runs_are_removed(run, learned, again):
    hidden = run / "out" / "country=fr" / ".halfmoon-0123456789ab.parquet"
    hidden.write_text("half")
    fill_folder(run / "in", run / "out", WHOLE, **{again: True})
    assert not hidden.exists()


def test_a_full_disk_is_named_with_the_file(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    (tmp_path / "in").mkdir()
    rows = "".join(f"{i % 2},{'xy'[i % 2] if i < 12 else ''}\n" for i in range(30))
    (tmp_path / "in/a.csv").write_text(f"a,kind\n{rows}")
    monkeypatch.setattr("halfmoon._model_files.container._write_zip", full)
    with pytest.raises(OutputError) as refused:
        fill_folder(tmp_path / "in", tmp_path / "out", WHOLE)
    model = tmp_path / "out/_halfmoon/model-1"
    assert str(refused.value) == f"{model} cannot be written: No space left on device."

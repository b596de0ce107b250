"""Saved models: predict new rows, and inspect the file."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import halfmoon
from small_tables import a_line, error_of, read_csv, told_of, two_groups, write_csv


@pytest.fixture
def saved(run):
    """A model of two groups, saved in m.halfmoon."""
    rows, truth = two_groups()
    write_csv("t.csv", rows)
    record = told_of(
        run(
            *("fill", "t.csv", "-t", "side", "--model", "m.halfmoon", "--json"),
            *("--budget", "0.000001", "--no-report"),
        )
    )
    return rows, truth, record


def test_predict_agrees_with_fill(run, saved, folder):
    record = told_of(run("predict", "m.halfmoon", "t.csv", "-o", "p.csv", "--json"))
    assert (folder / "p.csv").read_bytes() == (folder / "t.filled.csv").read_bytes()
    assert record["predicted"] == 30
    assert record["mean_confidence"] == saved[2]["mean_confidence"]


def test_new_rows_without_the_target_get_it(run, saved):
    rows, truth, _ = saved
    # Columns in another order, and an additional one.
    new = [[row[2], "new", row[1], row[0]] for row in rows]
    new[0][1] = "other"
    write_csv("new.csv", new)
    told_of(run("predict", "m.halfmoon", "new.csv", "--json"))
    out = read_csv("new.filled.csv")
    assert out[0] == [*new[0], "side", "side_source", "side_confidence"]
    assert [row[:4] for row in out] == new
    assert [row[4] for row in out[1:]] == list(truth)
    filled = read_csv("t.filled.csv")
    assert [row[6] for row in out[11:]] == [row[5] for row in filled[11:]]


def test_a_table_of_one_row_is_predicted_and_empty_rows_are_not(run):
    rows, truth = two_groups()
    rows = [[*row[:3], f"{i % 7}", "2", row[3]] for i, row in enumerate(rows)]
    rows[0][3:5] = ["a", "b"]
    write_csv("t.csv", rows)
    saved = ("fill", "t.csv", "-t", "side", "--model", "m.halfmoon", "--no-report")
    told_of(run(*saved, "--json", "--budget", "0.2"))
    write_csv("one.csv", [rows[0], [*rows[1][:5], ""]])
    assert told_of(run("predict", "m.halfmoon", "one.csv", "--json"))["predicted"] == 1
    assert read_csv("one.filled.csv")[1][5] == truth[0]
    write_csv("some.csv", [rows[0], *rows[30:32], [""] * 6, [" "] * 6])
    record = told_of(run("predict", "m.halfmoon", "some.csv", "--json"))
    assert record["predicted"] == 2
    assert record["notes"] == [
        "2 rows were not predicted: each is empty or belongs to the header."
    ]
    assert read_csv("some.filled.csv")[3] == ["", "", "", "", "", "", "", ""]


def test_numbers_through_a_pipe(run):
    rows, y = a_line()
    write_csv("t.csv", rows)
    told_of(
        run(
            *("fill", "t.csv", "-t", "y", "--model", "m.halfmoon", "--json"),
            *("--budget", "0.000001", "--no-report"),
        )
    )
    given = "x\n" + "\n".join(row[0] for row in rows[1:])
    result = run("predict", "m.halfmoon", "-", given=given.encode())
    assert result.exit_code == 0, result.output
    lines = [line.split(",") for line in result.stdout.splitlines()]
    assert lines[0] == ["x", "y", "y_source", "y_low", "y_high"]
    assert np.abs(np.array([float(line[1]) for line in lines[1:]]) - y).max() < 0.3


def test_a_missing_column(run, saved):
    write_csv("new.csv", [["x", "note"], ["1", "n1"]])
    result = run("predict", "m.halfmoon", "new.csv")
    assert result.exit_code == 7
    assert "no column 'z', which the model learned from" in error_of(result)


def test_inspect_describes_a_table_model(run, saved):
    result = run("inspect", "m.halfmoon")
    assert result.exit_code == 0
    assert "fills 'side' (2 classes: left, right), HalfmoonClassifier" in result.stdout
    assert "10 labels and 30 rows without a label, of 40 rows" in result.stdout
    assert "x: number, feature" in result.stdout
    assert "halfmoon fill t.csv --target side" in result.stdout
    record = json.loads(run("inspect", "m.halfmoon", "--json").stdout)
    assert record["leave_one_out"] == saved[2]["leave_one_out"]
    assert record["sha256"] == saved[2]["sha256"]
    assert run("inspect", "m.halfmoon", "--quiet").output == ""


def test_inspect_describes_an_estimator(run, rng):
    X = rng.normal(size=(30, 2))
    model = halfmoon.LaplacianRegressor(alpha=0.1).fit(X, X[:, 0])
    halfmoon.save(model, "l.halfmoon")
    result = run("inspect", "l.halfmoon")
    assert result.exit_code == 0
    assert "LaplacianRegressor" in result.stdout
    assert "alpha = 0.1" in result.stdout
    write_csv("t.csv", [["x"], ["1"]])
    result = run("predict", "l.halfmoon", "t.csv")
    assert result.exit_code == 7
    assert "not learned from a table" in error_of(result)


@pytest.mark.parametrize("command", [("inspect",), ("predict",)])
def test_files_that_are_not_models(run, folder, command):
    (folder / "t.csv").write_text("x\n1\n")
    (folder / "bad.halfmoon").write_bytes(b"PK\x03\x04 and no more")
    for name in ("bad.halfmoon", "none.halfmoon", "t.csv"):
        more = ("t.csv",) if command == ("predict",) else ()
        result = run(*command, name, *more)
        assert result.exit_code == 7
        assert name in error_of(result)


def test_a_truncated_model(run, saved, folder):
    whole = (folder / "m.halfmoon").read_bytes()
    (folder / "m.halfmoon").write_bytes(whole[: len(whole) // 2])
    result = run("inspect", "m.halfmoon")
    assert result.exit_code == 7
    assert "m.halfmoon" in error_of(result)


def test_known_labels_score_the_model(run, saved):
    rows, truth, _ = saved
    known = [[*row[:3], side] for row, side in zip(rows[1:], truth, strict=True)]
    known[20][3] = "left" if truth[20] == "right" else "right"  # a wrong one
    known[21][1] = "Mars"
    write_csv("known.csv", [rows[0], *known])
    record = told_of(run("predict", "m.halfmoon", "known.csv", "--json"))
    assert record["predicted"] == 0
    scored = record["known_labels"]
    assert (scored["rows"], scored["rows_learned_from"]) == (30, 10)
    assert scored["accuracy"]["value"] == pytest.approx(29 / 30)
    assert "29 of 30 predictions were right" in record["summary"][1]
    assert any("not seen, such as 'Mars'" in note for note in record["notes"])
    out = read_csv("known.filled.csv")
    assert [row[:4] for row in out[1:]] == known  # given labels are saved


def test_labels_that_were_learned_from_do_not_test_the_model(run, saved):
    for name in ("t.csv", "t.filled.csv"):
        record = told_of(
            run("predict", "m.halfmoon", name, "-o", f"{name}.p", "--json")
        )
        assert record["known_labels"]["is_test"] is False
        assert "so this is not a test" in record["summary"][1]


def test_a_saved_model_uses_the_number_style_of_its_table(run):
    rng = np.random.default_rng(0)
    size = rng.uniform(600, 3000, 60).round()
    cells = [f'"{s:,.0f} sqft","${0.4 * s + 100:,.0f}"' for s in size]
    blank = [f'"{s:,.0f} sqft",' for s in size]
    rows = [*cells[:30], *blank[30:]]
    Path("t.csv").write_text("\n".join(["area,price", *rows, ""]), encoding="utf-8")
    quick = ("--budget", "0.000001", "--no-report", "--json")
    told_of(run("fill", "t.csv", "-t", "price", "--model", "m.halfmoon", *quick))
    only = [row.rsplit(",", 1)[0] for row in blank]
    Path("new.csv").write_text("\n".join(["area", *only, ""]), encoding="utf-8")
    told_of(run("predict", "m.halfmoon", "new.csv", "--json"))
    filled = read_csv("new.filled.csv")[1:]
    for row, s in zip(filled, size, strict=True):
        assert re.fullmatch(r"\$(\d,)?\d{3}", row[1])
        low, price, high = (float(row[i][1:].replace(",", "")) for i in (3, 1, 4))
        assert low <= price <= high
        assert abs(price - 0.4 * s - 100) < 60

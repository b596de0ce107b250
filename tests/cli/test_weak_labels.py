"""Partial labels: sets of candidates, and limits of numbers."""

import math

import numpy as np
import pandas as pd
import pytest

import halfmoon
from small_tables import error_of, read_csv, told_of, write_csv

QUICK = ("--no-report", "--json")
NAMES = np.array(["cat", "dog", "owl"])


def three_groups(n=90, seed=0):
    """Rows of three groups: every third with a label, a third with two candidates."""
    rng = np.random.default_rng(seed)
    code = np.arange(n) % 3
    X = rng.normal(size=(n, 2)) + 6 * np.array([[0, 0], [1, 0], [0, 1]])[code]
    part = np.arange(n) // 3 % 3
    rows = [["x", "z", "kind"]]
    for i in range(n):
        both = sorted([code[i], (code[i] + 1 + i % 2) % 3])
        cell = [NAMES[code[i]], "|".join(NAMES[both]), ""][part[i]]
        rows.append([f"{X[i, 0]:.3f}", f"{X[i, 1]:.3f}", str(cell)])
    return rows, NAMES[code]


def a_curve(n=120, seed=0, exact=15):
    """y = 3 x + 1: some exact, some within limits, half of them without upper one."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, n)
    y = 3 * x + 1 + 0.02 * rng.normal(size=n)
    rows = [["x", "y", "y_low", "y_high"]]
    for i in range(n):
        low, high = y[i] - rng.exponential(0.4), y[i] + rng.exponential(0.4)
        if i < exact:
            cells = [f"{y[i]:.4f}", "", ""]
        elif i < 60:
            cells = ["", f"{low:.4f}", f"{high:.4f}" if i % 2 else ""]
        else:
            cells = ["", "", ""]
        rows.append([f"{x[i]:.4f}", *cells])
    return rows, y


def test_candidates_are_chosen_from_their_sets(run):
    rows, truth = three_groups()
    write_csv("t.csv", rows)
    record = told_of(run("fill", "t.csv", "-t", "kind", "--sets", "|", *QUICK))
    out = read_csv("t.filled.csv")
    assert out[0][3:] == ["kind_source", "kind_confidence", "kind_candidates"]
    right = 0
    for before, after, true in zip(rows[1:], out[1:], truth, strict=True):
        assert after[:2] == before[:2]
        if before[2] in NAMES:
            assert after[2:] == [before[2], "given", "", ""]
            continue
        assert after[3] == "predicted"
        assert after[5] == (before[2] if "|" in before[2] else "")
        assert after[2] in (before[2].split("|") if before[2] else NAMES)
        right += after[2] == true
    assert right >= 57  # of 60
    within = record["partial_labels"]
    counts = [within[name] for name in ("exact", "partial", "narrowed", "tested")]
    assert counts == [30, 30, 30, 30]
    assert within["inside"] >= 27
    assert within["guess"] == pytest.approx(2 / 3)
    assert record["leave_one_out"]["accuracy"]["tested"] == 30
    assert record["predicted"] == 60
    free = [float(row[4]) for row in out[1:] if row[3] == "predicted" and not row[5]]
    assert record["mean_confidence"] == pytest.approx(np.mean(free), abs=1e-4)


def test_a_table_with_sets_can_be_filled_again_and_by_a_saved_model(run, folder):
    rows, truth = three_groups()
    write_csv("t.csv", rows)
    sets = ("-t", "kind", "--sets", "|")
    first = run("fill", "t.csv", *sets, "--model", "m.halfmoon", *QUICK)
    assert first.exit_code == 0, first.output
    run("fill", "t.filled.csv", *sets, "-o", "again.csv", *QUICK)
    assert read_csv("again.csv") == read_csv("t.filled.csv")
    record = told_of(run("predict", "m.halfmoon", "t.csv", "-o", "kept.csv", "--json"))
    assert read_csv("kept.csv") == read_csv("t.filled.csv")
    assert record["known_labels"]["rows_learned_from"] == 30
    new = [["x", "z"], *(row[:2] for row in rows[1:])]
    write_csv("new.csv", new)
    run("predict", "m.halfmoon", "new.csv", "-o", "labeled.csv")
    found = [row[2] for row in read_csv("labeled.csv")[1:]]
    assert np.mean(np.array(found) == truth) > 0.95


def test_numbers_stay_within_their_limits(run):
    rows, y = a_curve()
    write_csv("t.csv", rows)
    ends = ("--low", "y_low", "--high", "y_high")
    record = told_of(run("fill", "t.csv", "-t", "y", *ends, *QUICK))
    out = read_csv("t.filled.csv")
    added = ["y_source", "y_predicted_low", "y_predicted_high"]
    assert out[0] == ["x", "y", "y_low", "y_high", *added]
    assert [row[:4] for row in out[1:16]] == rows[1:16]
    assert {row[4] for row in out[1:16]} == {"given"}
    filled = np.array([[row[1], *row[5:]] for row in out[16:]], dtype=float)
    assert ((filled[:, 1] <= filled[:, 0]) & (filled[:, 0] <= filled[:, 2])).all()
    assert np.abs(filled[45:, 0] - y[60:]).mean() < 0.25
    for row in out[16:61]:
        assert row[2:4] == rows[out.index(row)][2:4]  # nothing is lost
        assert float(row[2]) <= float(row[1]) <= float(row[3] or math.inf)
    within = record["partial_labels"]
    assert (within["exact"], within["partial"], within["narrowed"]) == (15, 45, 45)
    assert 0.5 * 45 < within["inside"] <= 45
    assert record["leave_one_out"]["mean_absolute_error"]["value"] < 0.3
    assert "45 intervals" in record["summary"][0]
    again = run("fill", "t.filled.csv", "-t", "y", *ends, "-o", "again.csv", *QUICK)
    assert again.exit_code == 0, again.output
    assert read_csv("again.csv") == out


def test_limits_alone_make_a_new_column(run):
    rows, y = a_curve(exact=0)
    write_csv("t.csv", [[row[0], *row[2:]] for row in rows])
    asked = ("-t", "value", "--low", "y_low", "--high", "y_high")
    record = told_of(run("fill", "t.csv", *asked, "--model", "m.halfmoon", *QUICK))
    out = read_csv("t.filled.csv")
    added = ["value", "value_source", "value_low", "value_high"]
    assert out[0] == ["x", "y_low", "y_high", *added]
    values = np.array([row[3] for row in out[1:]], dtype=float)
    assert np.abs(values[60:] - y[60:]).mean() < 0.3
    assert "cannot be measured" in record["summary"][0]
    assert any("are wide" in note for note in record["notes"])
    assert any("it was added" in note for note in record["notes"])
    told_of(run("predict", "m.halfmoon", "t.csv", "-o", "kept.csv", "--json"))
    assert read_csv("kept.csv") == out


def test_no_interval_is_claimed_if_no_row_has_both_limits(run):
    rows, _ = a_curve(exact=0)
    write_csv("t.csv", [[row[0], row[2]] for row in rows])
    record = told_of(run("fill", "t.csv", "-t", "y", "--low", "y_low", *QUICK))
    out = read_csv("t.filled.csv")
    assert {(row[-2], row[-1]) for row in out[1:]} == {("", "")}
    assert record["mean_width"] is None
    assert any("are empty" in note for note in record["notes"])


def test_data_frames_take_the_same_options():
    rows, truth = three_groups()
    frame = pd.DataFrame(rows[1:], columns=rows[0]).astype({"x": float, "z": float})
    filled = halfmoon.fill(frame, "kind", sets="|")
    assert np.mean(filled.table["kind"].to_numpy() == truth) > 0.95
    assert "30 sets" in filled.summary[0]
    assert "sets='|'" in filled._command()
    assert "Predicted within" in filled.report.html
    kept = filled.table["kind_candidates"]
    assert kept.dropna().tolist() == [row[2] for row in rows[1:] if "|" in row[2]]


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        (
            [["x", "y"], [1, "a|b"], [2, "|"], [3, ""]],
            ["--sets", "|"],
            "without a class",
        ),
        (
            [["x", "y", "a", "b"], [1, "", 3, 2], [2, "", 1, 2], [3, "", "", ""]],
            ["--low", "a", "--high", "b"],
            "'a' is above 'b' in row 2",
        ),
        (
            [["x", "y", "a"], [1, "", "-inf"], [2, "", ""], [3, "", "-Inf"]],
            ["--low", "a"],
            "all ends are open",
        ),
        ([["x", "y"], [1, "3"], [2, ""]], ["--low", "b"], "no column 'b'"),
    ],
)
def test_bad_labels_give_one_error_and_nothing_is_lost(
    run, folder, table, options, message
):
    write_csv("t.csv", table)
    before = (folder / "t.csv").read_bytes()
    assert message in error_of(run("fill", "t.csv", "-t", "y", *options, "--no-report"))
    assert (folder / "t.csv").read_bytes() == before
    assert [each.name for each in folder.iterdir()] == ["t.csv"]


def test_sets_of_both_of_two_classes_say_nothing(run):
    rng = np.random.default_rng(0)
    rows = [["x", "kind"]]
    for i, x in enumerate(rng.normal(size=40)):
        cell = "cat|dog" if i % 4 == 0 else ("cat" if x > 0 else "dog")
        rows.append([f"{x:.3f}", "" if i % 4 == 1 else cell])
    write_csv("t.csv", rows)
    result = run("fill", "t.csv", "-t", "kind", "--sets", "|")
    assert "from 20 labels" in result.stdout
    told = " ".join(result.stdout.split())
    assert "10 sets of 'kind' hold all classes and were filled like a blank" in told
    assert "drawn at random" not in told
    assert "No cell of" not in told

import numpy as np
from numpy.testing import assert_allclose
from tests.small_tables import a_line, error_of, told_of, write_csv

from halfmoon import load
from halfmoon.table._files import open_table

QUICK = ("--budget", "0.000001")  # one candidate, on the fastest machine too


def test_rows_for_and_against_a_prediction(run, groups):
    rows, truth = groups
    record = told_of(
        run("explain", "groups.csv", "-t", "side", "--row", 17, 40, *QUICK, "--json")
    )
    assert record["target"] == "side"
    assert set(record["columns"]) <= {"x", "note", "z"}
    assert [row["row"] for row in record["rows"]] == [17, 40]
    for row in record["rows"]:
        # The header is row 1, so row 17 is the 16th row of the table.
        assert row["prediction"] == truth[row["row"] - 2]
        assert row["given"] is None
        assert row["confidence"] > 0.5
        assert row["cells"]["x"] == rows[row["row"] - 1][0]
        assert row["for"]
        assert row["scale"] == "as given"
        for side in ("for", "against"):
            for reason in row[side]:
                assert reason["label"] == truth[reason["row"] - 2]
                assert 2 <= reason["row"] <= 11  # the labeled rows
                assert reason["cells"]["z"] == rows[reason["row"] - 1][2]
                assert (reason["label"] == row["prediction"]) == (side == "for")


def test_printed_text(run, groups):
    result = run("explain", "groups.csv", "-t", "side", "--row", "17", *QUICK)
    assert result.exit_code == 0, result.output
    first, header, this, *others = result.stdout.splitlines()
    assert first.startswith("Row 17: the prediction for 'side' is 'right' (confidence ")
    assert header.split()[:3] == ["row", "label", "weight"]
    assert this.split()[:3] == ["this", "row", "17"]
    assert others[0].split()[0] == "for"
    assert others[0].split()[3].endswith("%")


def test_a_saved_model_gives_the_same_explanation(run, groups, folder):
    keep = ("--model", "m.halfmoon")
    told_of(run("fill", "groups.csv", "-t", "side", *QUICK, *keep, "--json"))
    learned, kept = (
        told_of(run("explain", "groups.csv", "--row", "30", *how, "--json"))["rows"][0]
        for how in (("-t", "side", *QUICK), keep)
    )
    assert kept["prediction"] == learned["prediction"]
    assert [r["row"] for r in kept["for"]] == [r["row"] for r in learned["for"]]
    model = load(folder / "m.halfmoon")
    with open_table(folder / "groups.csv") as table:
        rows = next(iter(table.batches())).rows.slice(28, 1)
    weights = model.estimator_.smoother_matrix(model.transform(rows))[0]
    for reason in kept["for"]:
        assert_allclose(reason["weight"], weights[reason["row"] - 2], atol=1e-8)
    wrong = run("explain", "groups.csv", "-t", "x", "--row", "3", *keep)
    assert "The model predicts 'side', not 'x'." in error_of(wrong)


def test_a_labeled_row_is_predicted_without_its_label(run, groups):
    rows, _ = groups
    rows[4][3] = "left" if rows[4][3] == "right" else "right"  # a wrong label, in row 5
    write_csv("groups.csv", rows)
    result = run("explain", "groups.csv", "-t", "side", "--row", "5", *QUICK, "--json")
    (row,) = told_of(result)["rows"]
    assert row["given"] == rows[4][3] != row["prediction"]
    assert 5 not in [reason["row"] for reason in (*row["for"], *row["against"])]
    result = run("explain", "groups.csv", "-t", "side", "--row", "5", *QUICK)
    assert (
        f"Its label, {rows[4][3]!r}, was hidden for this prediction." in result.stdout
    )


def test_numbers(run, folder):
    rows, _ = a_line()
    write_csv(folder / "line.csv", rows)
    record = told_of(
        run("explain", "line.csv", "-t", "y", "--row", "50", *QUICK, "--json")
    )
    (row,) = record["rows"]
    assert float(row["low"]) < float(row["prediction"]) < float(row["high"])
    assert "confidence" not in row
    middle = 1.0
    above = float(row["prediction"]) > middle
    strongest = row["for"][0]
    assert (float(strongest["label"]) > middle) == above


def test_errors_say_what_to_do(run, groups):
    result = run("explain", "groups.csv", "-t", "side", "--row", "99", *QUICK)
    assert "The table has no row 99. Its rows are 2 to 41" in error_of(result)
    result = run("explain", "groups.csv", "-t", "side", "--row", "1", *QUICK)
    assert "The table has no row 1." in error_of(result)
    assert run("explain", "groups.csv", "-t", "side").exit_code == 2
    assert run("explain", "groups.csv", "-t", "side", "--row", "0").exit_code == 2
    result = run("explain", "groups.csv", "-t", "side", "--row", "3", *QUICK, "--quiet")
    assert result.stdout == ""


def test_fill_reports_important_columns_and_reasons(run, groups, folder):
    record = told_of(run("fill", "groups.csv", "-t", "side", *QUICK, "--json"))
    importance = {each["name"]: each["importance"] for each in record["columns"]}
    assert importance["x"] + importance["z"] > 0.2 > abs(importance["note"])
    assert {each["role"] for each in record["columns"]} == {"feature"}
    page = (folder / "groups.report.html").read_text(encoding="utf-8")
    assert "For:" in page
    assert "What it went by" in page or "matter" in page


def test_a_mistyped_number_is_suspected_and_shown_as_it_was_typed(run, folder):
    rng = np.random.default_rng(0)
    x = rng.uniform(size=90)
    y = [f"{100 + 50 * value:.1f}" if i < 40 else "" for i, value in enumerate(x)]
    y[7] = "12345.6"
    rows = [["x", "y"], *([f"{a:.4f}", b] for a, b in zip(x, y, strict=True))]
    write_csv(folder / "typed.csv", rows)
    told = told_of(run("fill", "typed.csv", "-t", "y", *QUICK, "--json"))
    assert any("looks wrong" in line and "row 9" in line for line in told["summary"])
    page = (folder / "typed.report.html").read_text(encoding="utf-8")
    assert "12345.6" in page
    explained = run("explain", "typed.csv", "-t", "y", "--row", "9", *QUICK)
    assert "Its label, 12345.6, was hidden" in " ".join(explained.stdout.split())

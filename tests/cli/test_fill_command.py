"""``halfmoon fill``, from the command to the files."""

import csv
import gzip
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from small_tables import a_line, read_csv, told_of, two_groups, write_csv

QUICK = ("--budget", "0.000001", "--no-report")  # one candidate
SEARCHED = ("--budget", "0.2", "--no-report")


def test_classes_are_filled_and_nothing_else_changes(run):
    rows, truth = two_groups()
    write_csv("t.csv", rows)
    record = told_of(run("fill", "t.csv", "--target", "side", "--json", *SEARCHED))
    out = read_csv("t.filled.csv")
    assert out[0] == [*rows[0], "side_source", "side_confidence"]
    for i, (before, after) in enumerate(zip(rows[1:], out[1:], strict=True)):
        assert after[:3] == before[:3]
        assert after[3] == truth[i]
        if i < 10:
            assert after[4:] == ["given", ""]
        else:
            assert after[4] == "predicted"
            assert 0.5 < float(after[5]) <= 1.0
    assert (record["rows"], record["given"], record["predicted"]) == (40, 10, 30)
    assert record["classes"]["left"] == {"given": 5, "predicted": 15}
    confidence = [float(row[5]) for row in out[11:]]
    assert record["mean_confidence"] == pytest.approx(np.mean(confidence), abs=1e-4)
    assert record["leave_one_out"]["accuracy"]["value"] == 1.0


def test_numbers_are_filled_in_between_low_and_high(run):
    rows, y = a_line()
    write_csv("t.csv", rows)
    record = told_of(run("fill", "t.csv", "-t", "y", "--json", *SEARCHED))
    out = read_csv("t.filled.csv")
    assert out[0] == ["x", "y", "y_source", "y_low", "y_high"]
    assert out[1:31] == [[*row, "given", "", ""] for row in rows[1:31]]
    filled = np.array([[row[1], *row[3:]] for row in out[31:]], dtype=float)
    assert np.abs(filled[:, 0] - y[30:]).max() < 0.3
    assert ((filled[:, 1] < filled[:, 0]) & (filled[:, 0] < filled[:, 2])).all()
    inside = (filled[:, 1] <= y[30:]) & (y[30:] <= filled[:, 2])
    assert inside.mean() >= 0.7  # of 30 rows; the level is 0.9
    assert record["task"] == "numbers"
    width = (filled[:, 2] - filled[:, 1]).mean()
    assert record["mean_width"] == pytest.approx(width, rel=1e-3)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_file(run, folder):
    write_csv("t.csv", two_groups()[0])
    for name in ("a.csv", "b.csv"):
        # No budget: where it cuts the search depends on the machine.
        told_of(run("fill", "t.csv", "-t", "side", "-o", name, "--json", "--no-report"))
    assert (folder / "a.csv").read_bytes() == (folder / "b.csv").read_bytes()


def test_standard_input_to_standard_output(run):
    rows, truth = two_groups()
    text = "\n".join(",".join(row) for row in rows)
    result = run("fill", "-", "--target", "side", *QUICK, given=text.encode())
    assert result.exit_code == 0
    lines = [line.split(",") for line in result.stdout.splitlines()]
    assert [line[:3] for line in lines] == [row[:3] for row in rows]
    assert [line[3] for line in lines[1:]] == list(truth)
    assert "Filled 30 blanks in 'side' from 10 labels." in result.stderr


@pytest.mark.parametrize("ending", ["tsv", "csv.gz", "parquet", "feather"])
def test_formats_in_and_out(run, ending):
    rows, truth = two_groups()
    columns = dict(zip(rows[0], map(list, zip(*rows[1:], strict=True)), strict=True))
    if ending == "tsv":
        with open("t.tsv", "w") as file:
            file.write("\n".join("\t".join(row) for row in rows))
    elif ending == "csv.gz":
        with gzip.open("t.csv.gz", "wt") as file:
            file.write("\n".join(",".join(row) for row in rows))
    else:
        table = pa.table(
            {
                "x": pa.array(map(float, columns["x"])),
                "note": pa.array(columns["note"]).dictionary_encode(),
                "z": pa.array(map(float, columns["z"]), pa.float32()),
                "side": pa.array([side or None for side in columns["side"]]),
            }
        )
        if ending == "parquet":
            pq.write_table(table, "t.parquet")
        else:
            pyarrow.feather.write_feather(table, "t.feather")
    told_of(run("fill", f"t.{ending}", "-t", "side", "--json", *QUICK))
    out = f"t.filled.{ending}"
    if ending == "tsv":
        with open(out) as file:
            sides = [line.split("\t")[3] for line in file][1:]
    elif ending == "csv.gz":
        with gzip.open(out, "rt") as file:
            sides = [line.split(",")[3] for line in file][1:]
    else:
        read = pq.read_table if ending == "parquet" else pyarrow.feather.read_table
        filled = read(out)
        assert filled.select(["x", "note", "z"]).equals(
            table.select(["x", "note", "z"])
        )
        assert filled.schema.field("side_confidence").type == pa.float64()
        assert filled.column("side_confidence").null_count == 10
        sides = filled.column("side").to_pylist()
    assert sides == list(truth)


@pytest.mark.parametrize("kind", ["int16", "int64", "uint32", "float32", "double"])
def test_numbers_keep_the_type_of_their_column(run, kind):
    x = np.arange(60)
    y = pa.array([int(100 * v) if v % 2 else None for v in x]).cast(kind)
    pq.write_table(pa.table({"x": x * 0.1, "y": y}), "t.parquet")
    told_of(run("fill", "t.parquet", "-t", "y", "--json", *SEARCHED))
    filled = pq.read_table("t.filled.parquet")
    assert filled.schema.field("y").type == y.type
    assert filled.schema.field("y_low").type == pa.float64()
    assert filled.column("y").to_pylist()[1::2] == [100.0 * v for v in x[1::2]]
    low, value, high = (
        filled.column(name).to_numpy()[::2] for name in ("y_low", "y", "y_high")
    )
    assert (low <= value).all()
    assert (value <= high).all()
    assert np.abs(filled.column("y").to_numpy() - 100 * x).max() < 100


def test_several_columns_after_one_option(run):
    rows, _ = two_groups()
    write_csv("t.csv", rows)
    result = run(
        *("fill", "t.csv", "--features", "x", "z", "-t", "side", "--json"),
        *("--known", "z", "--budget", "0.000001", "--no-report"),
    )
    record = told_of(result)
    assert record["learned_from"]["columns"] == ["x", "z"]
    assert record["learned_from"]["known"] == ["z"]
    record = told_of(
        run(
            *("fill", "t.csv", "-t", "side", "--exclude", "note,z", "--json"),
            *("--overwrite", *QUICK),
        )
    )
    assert record["learned_from"]["columns"] == ["x"]


def test_another_value_for_blanks(run):
    rows, _ = two_groups()
    for row in rows[11:]:
        row[3] = "-1"
    rows[1][3], rows[3][3] = ["None"] * 2  # blank as well
    write_csv("t.csv", rows)
    record = told_of(
        run("fill", "t.csv", "-t", "side", "--unlabeled", "-1", "--json", *QUICK)
    )
    assert record["predicted"] == 32
    assert list(record["classes"]) == ["right", "left"]


def test_the_task_can_be_given(run):
    rows, _ = two_groups()
    for i, row in enumerate(rows[1:]):
        row[3] = str(i % 2) if i < 10 else ""
    write_csv("t.csv", rows)
    options = ("-t", "side", "--json", *QUICK)
    assert told_of(run("fill", "t.csv", *options))["task"] == "classes"
    record = told_of(run("fill", "t.csv", *options, "--task", "numbers", "--overwrite"))
    assert record["task"] == "numbers"
    assert read_csv("t.filled.csv")[0][4:] == ["side_source", "side_low", "side_high"]


def test_report_and_model_next_to_the_table(run, folder):
    write_csv("t.csv", two_groups()[0])
    result = run(
        "fill", "t.csv", "-t", "side", "--budget", "0.000001", "--model", "m.halfmoon"
    )
    assert result.exit_code == 0, result.output
    assert (folder / "t.report.html").read_text().startswith("<!DOCTYPE html>")
    assert "Report:  t.report.html" in result.stdout
    assert "Model:   m.halfmoon" in result.stdout
    assert sorted(p.name for p in folder.iterdir()) == [
        *("m.halfmoon", "t.csv", "t.filled.csv", "t.report.html")
    ]


def test_filled_rows_to_sort_and_filter(run, folder):
    write_csv("t.csv", two_groups()[0])
    record = told_of(
        run("fill", "t.csv", "-t", "side", *QUICK, "--json", "--interactive", "r.html")
    )
    assert record["interactive"] == "r.html"
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    predicted = [
        i + 2
        for i, row in enumerate(read_csv("t.filled.csv")[1:])
        if "predicted" in row
    ]
    shown = [int(n) for n in re.findall(r'class="figure" data-key="(\d+)"', page)]
    assert len(shown) == len(set(shown)) > 0
    assert set(shown) <= set(predicted)
    result = run(
        "fill", "t.csv", "-t", "side", "-o", "r.html", "--interactive", "r.html"
    )
    assert result.exit_code == 2
    assert "--output and --interactive are both r.html" in result.output


def test_quiet_prints_nothing(run):
    write_csv("t.csv", two_groups()[0])
    result = run("fill", "t.csv", "-t", "side", "--quiet", *QUICK)
    assert (result.exit_code, result.output) == (0, "")


def test_the_command_in_the_record_repeats_the_run(run):
    write_csv("t.csv", two_groups()[0])
    record = told_of(
        run(
            *("fill", "t.csv", "-t", "side", "--exclude", "note", "z", "--seed", "3"),
            *("--json", *QUICK),
        )
    )
    assert record["command"] == (
        "halfmoon fill t.csv --target side --exclude note z --budget 1e-06 --seed 3 "
        "--no-report --json"
    )
    assert record["settings"]["seed"] == 3


def test_a_row_number_is_not_learned_from(run):
    rows, _ = two_groups()
    for i, row in enumerate(rows):
        row.insert(0, "id" if i == 0 else str(i))
    write_csv("t.csv", rows)
    record = told_of(run("fill", "t.csv", "-t", "side", "--json", *QUICK))
    assert "id" not in record["learned_from"]["columns"]
    assert any("'id' was not learned from" in note for note in record["notes"])


def test_formulas_among_labels_are_written_as_text(run):
    rows, truth = two_groups()
    for i, row in enumerate(rows[1:]):
        row[1] = "=HYPERLINK(1)"  # a cell of the user, which never changes
        if i < 10 and truth[i] == "left":
            row[3] = "=cmd()"
    write_csv("t.csv", rows)
    record = told_of(run("fill", "t.csv", "-t", "side", "--json", *QUICK))
    out = read_csv("t.filled.csv")[1:]
    assert {row[1] for row in out} == {"=HYPERLINK(1)"}
    assert [row[3] for row in out[:10:2]] == ["=cmd()"] * 5
    assert {row[3] for row in out[10::2]} == {"'=cmd()"}
    assert any("15 cells" in note for note in record["notes"])


def test_a_separate_process(folder):
    write_csv("t.csv", two_groups()[0])
    done = subprocess.run(
        [sys.executable, "-m", "halfmoon", "fill", "t.csv", "-t", "side", *QUICK],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Table:   t.filled.csv" in done.stdout
    assert "Filling in" in done.stderr  # the bar


def test_too_many_known_columns_for_the_labels_give_a_warning(run):
    rows, _ = two_groups()
    write_csv("t.csv", rows)
    options = ("fill", "t.csv", "-t", "side", "--json", "--overwrite", *QUICK)
    record = told_of(run(*options, "--known", "x", "note"))
    warned = "known columns ('x', 'note': 3 numbers) are measured with only 10 labels"
    assert sum(warned in note for note in record["notes"]) == 1
    record = told_of(run(*options, "--known", "x"))  # one for ten labels
    assert not any("known columns" in note for note in record["notes"])


def houses(price, area, *, comma=False):
    """60 houses, half of them with a price, as text of some style."""
    rng = np.random.default_rng(3)
    size = rng.uniform(600, 3000, 60).round()
    worth = 0.4 * size + 100
    delimiter = ";" if comma else ","
    lines = [delimiter.join(["area", "price"])]
    for i, (s, w) in enumerate(zip(size, worth, strict=True)):
        cells = [area(s), price(w) if i % 2 else ""]
        lines.append(delimiter.join(f'"{cell}"' for cell in cells))
    Path("t.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return worth[::2], delimiter


@pytest.mark.parametrize(
    ("price", "pattern", "comma"),
    [
        (lambda w: f"${w:,.2f}", r"\$(\d,)?\d{3}\.\d\d", False),
        (lambda w: f"${w:,.0f}", r"\$(\d,)?\d{3}", False),
        (lambda w: f"{w:.2f}".replace(".", ","), r"\d+,\d\d", True),
        (lambda w: f"{w:.0f} g", r"\d+ g", False),
        (lambda w: f"{w:.0f}", r"\d+", False),
        (lambda w: f"{w:,.2f} €".translate({44: ".", 46: ","}), r"[\d.]+,\d\d €", True),
    ],
)
def test_numbers_are_filled_in_the_style_of_the_labels(run, price, pattern, comma):
    worth, delimiter = houses(price, lambda s: f"{s:,.0f} sqft", comma=comma)
    told_of(run("fill", "t.csv", "-t", "price", "--json", *QUICK))
    with open("t.filled.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter=delimiter))[::2]
    filled = []
    for row in rows:
        three = [row[name] for name in ("price_low", "price", "price_high")]
        for cell in three:
            assert re.fullmatch(pattern, cell), cell
        low, value, high = (as_amount(cell, comma) for cell in three)
        assert 0 <= low <= value <= high
        filled.append(value)
    assert np.abs(np.array(filled) - worth).mean() < 20


def as_amount(cell, comma):
    digits = "".join(c for c in cell if c in "0123456789.,")
    if comma:
        digits = digits.replace(".", "").replace(",", ".")
    return float(digits.replace(",", ""))


def test_confidences_have_the_decimal_commas_of_the_table(run):
    rng = np.random.default_rng(0)
    lines = ["x;side"]
    for i in range(40):
        x = rng.normal() + 4 * (i % 2)
        side = ["left", "right"][i % 2] if i < 12 else ""
        lines.append(f"{x:.3f};{side}".replace(".", ","))
    Path("t.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    told_of(run("fill", "t.csv", "-t", "side", "--json", *QUICK))
    last = Path("t.filled.csv").read_text(encoding="utf-8").splitlines()[-1]
    assert re.search(r";predicted;(0,\d{1,4}|1,0)$", last)


def test_a_styled_column_of_text_stays_text_in_a_typed_file(run):
    worth, _ = houses(lambda w: f"${w:,.0f}", lambda s: f"{s:,.0f}")
    told_of(run("fill", "t.csv", "-t", "price", "-o", "o.parquet", "--json", *QUICK))
    filled = pq.read_table("o.parquet")
    assert filled.schema.field("price").type == pa.string()
    assert filled.schema.field("price_low").type == pa.float64()
    prices = filled.column("price").to_pylist()[::2]
    assert all(re.fullmatch(r"\$(\d,)?\d{3}", cell) for cell in prices)
    read = [as_amount(cell, False) for cell in prices]
    assert np.abs(np.array(read) - worth).mean() < 20

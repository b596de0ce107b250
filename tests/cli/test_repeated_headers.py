"""A table that was joined from files with a header each."""

import csv

import numpy as np


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.reader(file))


def test_repeated_headers_are_neither_classes_nor_filled(folder, run):
    """They are so many that columns with them would not be numbers."""
    x = np.random.default_rng(0).normal(size=80)
    lines = ["x,z,kind"]
    for i in range(80):
        lines += ["x,z,kind"] * (i % 8 == 7)
        kind = "" if i % 3 == 0 else "high" if x[i] > 0 else "low"
        lines.append(f"{x[i]:.3f},{i % 5},{kind}")
    (folder / "t.csv").write_text("\n".join(lines) + "\n")
    result = run(
        "fill", "t.csv", "-t", "kind", "--budget", "0.000001", "--model", "m.halfmoon"
    )
    assert result.exit_code == 0, result.output
    filled = rows_of("t.filled.csv")
    cells = [line.split(",")[:2] for line in lines]
    assert [row[:2] for row in filled] == cells
    assert {row[2] for row in filled[1:] if row[0] != "x"} == {"low", "high"}
    assert "10 rows repeat the header (rows 9, 18, 27 and 7 more)" in " ".join(
        result.output.split()
    )
    assert run("inspect", "m.halfmoon").output.count("number") >= 2
    run("predict", "m.halfmoon", "t.csv", "-o", "p.csv")
    for rows in (filled, rows_of("p.csv")):
        headers = [row for row in rows[1:] if row[0] == "x"]
        assert headers == [["x", "z", "kind", "", ""]] * 10

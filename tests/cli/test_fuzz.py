"""Random tables are filled, or one line says why not."""

import csv
import io
import tempfile
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from halfmoon._cli.commands import app

CELLS = st.one_of(
    st.sampled_from(
        [
            *("", "NA", "nan", "inf", "-inf", "1e308", "-1e308", "1e-320", "0", "-0"),
            *("1", "2.5", "-3", "007", "1,5", "12%", "true", "no", "2024-02-30"),
            *("2024-01-05", "05/06/2024", "12:30", "a", "b", "<b>", "=1+1", "'", '"'),
            *("None", "  ", "x\ny", "\u202e", "\u0000", "9" * 400, "é", "😀"),
        ]
    ),
    st.text(max_size=5),
    st.floats().map(str),
    st.integers().map(str),
)


@st.composite
def tables(draw):
    """A small table; most of its columns hold one kind of cells."""
    n, d = draw(st.integers(0, 25)), draw(st.integers(1, 5))
    columns = []
    for _ in range(d):
        few = draw(st.lists(CELLS, min_size=1, max_size=6))
        cell = draw(st.sampled_from([CELLS, st.sampled_from(few)]))
        columns.append(draw(st.lists(cell, min_size=n, max_size=n)))
    labels = st.sampled_from(draw(st.lists(CELLS, min_size=1, max_size=4)))
    target = st.one_of(labels, st.just(""))
    columns.append(draw(st.lists(target, min_size=n, max_size=n)))
    names = draw(st.lists(CELLS, min_size=d, max_size=d))
    text = io.StringIO()
    writer = csv.writer(text, delimiter=draw(st.sampled_from(",;\t")))
    writer.writerow([*names, "target"])
    writer.writerows(zip(*columns, strict=True))
    return text.getvalue()


def check(text, options=()):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source, out = folder / "t.csv", folder / "out.csv"
        source.write_bytes(text.encode("utf-8", "replace"))
        result = CliRunner().invoke(
            app,
            [
                *("fill", str(source), "--target", "target", "--output", str(out)),
                *("--budget", "0.000001", *options),
            ],
        )
        said = result.stderr.strip().splitlines()
        assert result.exit_code in (0, 2, 3, 4), (result.exit_code, result.output, text)
        assert "Traceback" not in result.output
        assert out.exists() == (result.exit_code == 0)
        if result.exit_code:
            assert said[-1].startswith("halfmoon: ")
            return
        before, after = (_cells(path) for path in (source, out))
        assert len(before) == len(after)
        assert [row[: len(before[0]) - 1] for row in after] == [
            row[:-1] for row in before
        ]
        rows = [row for row in after if any(cell.strip() for cell in row)]
        assert all(row[len(before[0]) - 1].strip() for row in rows)  # but empty ones


def _cells(path):
    """Records of a text table, split at the delimiter before the target."""
    text = path.read_bytes().decode()
    at = text.index("target")
    delimiter = text[at - 1]
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    return [row for row in rows if row]


QUICK = settings(
    max_examples=15,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],  # tables are small, and runs are slow
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@QUICK
@given(tables())
def test_any_table(text):
    check(text, ("--no-report",))


@pytest.mark.slow
@settings(QUICK, max_examples=200, derandomize=False)
@given(tables())
def test_any_table_with_report_and_model(text):
    check(text)

"""What a run says of labels, columns and rows, from small or made-up pieces of it."""

import dataclasses
import itertools
import time
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pyarrow as pa

from halfmoon._report.findings import Reason, ShownRow
from halfmoon.table import TableModel
from halfmoon.table._cells.number_style import NumberStyle
from halfmoon.table._columns.column_choice import ColumnChoice
from halfmoon.table._columns.column_kinds import Columns, ColumnUse
from halfmoon.table._columns.column_names import chosen_features, guess_notes
from halfmoon.table._columns.leaking_columns import leave_out_leaking
from halfmoon.table._files import Batch
from halfmoon.table._files.text_table import ShortRows
from halfmoon.table._labels.given_labels import Blanks, GivenLabels, TypedLabels
from halfmoon.table._labels.label_checks import (
    checked_labels,
    filled_word_notes,
    mark_notes,
)
from halfmoon.table._labels.weak_labels import checked_ends, checked_sets
from halfmoon.table._models.weak_table_model import WeakTableModel
from halfmoon.table._run_settings import Settings
from halfmoon.table._runs.preview import rewritten_note
from halfmoon.table._runs.row_reasons import ExplainedRow, explained_rows
from halfmoon.table._runs.rows_without_data import (
    TotalsRow,
    description_note,
    empty_note,
    header_note,
    totals_note,
    without_data_notes,
)
from halfmoon.table._runs.run_costs import MemoryBudget, TimeForecast
from halfmoon.table._runs.run_notes import (
    clumped_note,
    code_notes,
    common_notes,
    leak_notes,
    leaking_columns,
    learning_notes,
    order_note,
    weak_notes,
)
from halfmoon.table._runs.run_summary import predicted_record
from halfmoon.table._runs.scored_rows import ScoredRows, Sums, Unseen
from halfmoon.table._table_errors import plain_errors
from sentences.of_files import refused

ROWS = 60
NUMBERS = np.random.default_rng(0).permutation(1000)[:ROWS]


def labels():
    """What is found in labels before anything is learned from them."""
    spellings = [f"{a}{i}" for i in range(5) for a in ("yes ", "Yes-", "YES_")]
    for values, options in (
        (["Yes", "yes", "no", "No"], {}),
        (["Yes", "yes", "no", "No"], {"merge_labels": True}),
        (spellings, {}),
        (spellings, {"merge_labels": True}),
        (["a", "b", "?"], {}),
        (["a", "b", "?", "unknown", "?"], {}),
        ([*map(str, NUMBERS), "low"], {}),
        ([*map(str, NUMBERS), "-999999", "-999999"], {}),
        ([*map(str, NUMBERS), "low", "about 3", "n.a.", "x"], {}),
        ([*map(str, NUMBERS), "1234567"], {}),
        ([*map(str, NUMBERS), "1234567", "-1234567"], {}),
        (["1", "2", "3", "3", "2", "1"], {}),
        ([str(21 + i % 15) for i in range(60)], {}),
        (["low", "high"], {"task": "ordered"}),
        ([f"{1.2 + 0.7 * i:.3f}" for i in range(12)], {}),
        ([f"{5 + i // 12}'{i % 12}\"" for i in range(12)] * 2, {}),
    ):
        checked_labels(values, Settings("y", **options))
    for values, options in (
        ([*(f"{0.5 + i:.2f}" for i in range(12)), "<0.5", "<0.5"], {}),
        (["north", "south", "east"], {"task": "ordered"}),
    ):
        with refused():
            checked_labels(values, Settings("y", **options))
    with refused():
        times = [f"{i // 4}h {i % 4 * 15}m" for i in [*range(40), *range(20)]]
        checked_labels(times, Settings("y"))
    weak_labels()
    for mark in ("rigth", "?", "left,right"):
        list(mark_notes("side", Blanks(mark), ["left", "right"]))
    for counts in ({"none": 1}, {"none": 3}, {"none": 3, "NA": 2}):
        found = Blanks(counts=Counter({"": 40, **counts}))
        list(filled_word_notes("sex", found, "classes"))
    for words in (["Total"], ["Sum", "Average"]):
        totals_note([TotalsRow(40, word, True) for word in words])
    for numbers in ([12], [12, 23, 34, 45]):
        header_note(numbers)
    for rows in (1, 2):
        description_note(rows, 2)
        empty_note(rows)
        list(without_data_notes(rows))
    for use in (
        ColumnUse("size", "number", style=NumberStyle(",", ".", digits=2)),
        ColumnUse("day", "date", date_format="ISO8601"),
    ):
        rewritten_note(use)
    for short in ({5: 2}, {5: 2, 7: 1, 8: 1, 12: 3}):
        ShortRows("t.csv", 4, 20, short).checked()
    for names in (["kind"], ["kind", "size"]):
        list(guess_notes(names))
    rows = pa.record_batch({"y": pa.array([1, None])})
    list(GivenLabels("y", Blanks(), typed=TypedLabels({1: "a"}, {1})).notes())
    given = GivenLabels("y", Blanks(), typed={1: "many"})
    with refused():
        given.of(Batch(0, rows))
    for refilled in (1, 30):
        list(GivenLabels("y", Blanks(), ["y_source"], {1: "a"}, 2, refilled).notes())


def weak_labels():
    """Labels that are known in part."""
    for values in (["a", "b", "a"], ["a|b", "a|c", "a|b|c", None], ["a|b", "b|a|c"] * 2,
                   ["a|b", "a|c", "c|b", "a|b|c", "c|b|a"]):  # fmt: skip
        checked_sets(values, Settings("y", sets="|"))
    for values in (["a|b", "|"], ["a", "|", " | "], ["a|b", "b|a"], ["a", "a"]):
        with refused():
            checked_sets(values, Settings("y", sets="|"))
    asked = Settings("y", low="least", high="most")
    for rows in (
        [(None, 3, 2)],
        [(5, 1, 2)],
        [(None, "inf", None)],
        [(None, None, float("-inf"))],
        [(None, "about 3", None)],
        [(None, "x", "y"), (None, "z", None)],
        [(None, "-inf", "inf")],
        [(None, 1, 2), (None, 1, 2)],
    ):
        cells = [dict(zip(("label", "low", "high"), row, strict=True)) for row in rows]
        with refused():
            checked_ends(cells, asked, range(2, 2 + len(cells)))
    for options in (
        {"sets": " "},
        {"sets": "|", "low": "a"},
        {"sets": "|", "task": "ordered"},
        {"low": "a", "task": "classes"},
        {"low": "a", "high": "a"},
        {"high": "y"},
        {"task": "class"},
        {"level": 90},
        {"seed": "x"},
        {"budget": 0},
    ):
        with refused():
            Settings("y", **options)
    for options in ({"low": "leats"}, {"low": "least", "features": ("least",)}):
        with refused():
            chosen_features(["x", "least", "y"], Settings("y", **options))


def columns():
    """Why columns are left out, and how others were read."""
    table = pa.table(
        {
            "empty": pa.nulls(ROWS, pa.string()),
            "constant": ["north"] * ROWS,
            "pictures": pa.array([b"x"] * ROWS),
            "number": [str(i + 1) for i in range(ROWS)],
            "customer id": NUMBERS,
            "code": [f"AB{i:04}" for i in NUMBERS],
            "price": [f"${1000 * i + 1:,}" for i in NUMBERS[:-1]] + ["n.a."],
            "share": [f"{i / 10:.1f} %".replace(".", ",") for i in NUMBERS],
            "day": [f"{1 + i % 28}/{1 + i % 12}/2024" for i in NUMBERS],
            "time": [f"{i % 24}:{i % 60:02}" for i in NUMBERS],
            "color": [("red", "blue", "green")[i % 3] for i in NUMBERS],
            "age": [f"{i}-{i + 9}" for i in NUMBERS],
            "inches": [f"{i} {1 + i % 3}/4" for i in NUMBERS],
            "odds": [f"{i + 1}:{1 + i % 4}" for i in NUMBERS],
            "height": [f"{4 + i % 3}'{i % 12}\"" for i in NUMBERS],
            "baby": [f"{7 + i % 3} lb {i % 16} oz" for i in NUMBERS],
            "latitude": [f"{i % 90}°{i % 60}'{'NS'[i % 2]}" for i in NUMBERS],
            "trip": [f"{i % 24}h {i % 60}m" for i in NUMBERS],
            "weight": [f"{i} {('kg', 'kg', 'lb')[i % 3]}" for i in NUMBERS],
            "paid": [f"{'$$€'[i % 3]}{i}" for i in NUMBERS],
            "paid in": [f"{i}%" if i % 2 else f"{i / 1000}" for i in NUMBERS],
            "balance": [f"{i}.10 {'DC'[i % 2]}R" for i in NUMBERS],
            "pressure": [f"{110 + i}/{60 + i % 9}" for i in NUMBERS],
            "acid": [f"pH {i / 10}" for i in NUMBERS],
            "liked": [["tea", "tea;rum", "gin", "rum;gin"][i % 4] for i in NUMBERS],
            "depth": [str(i) if i > 99 else "-99999" for i in NUMBERS],
        }
    )
    read = Columns.of(table, (), (), np.arange(ROWS))
    for use in read.uses:
        yield f"{use.name!r} is {use.role}: {use.why or use.kind} {use.reading()}"


def model(kind="classes", *, columns=(), unread=None, **learned):
    """A model as if it had been fitted."""
    made = TableModel("species", kind)
    made.columns_ = SimpleNamespace(uses=[*columns], used=[], unread=unread or {})
    for name, value in learned.items():
        setattr(made, name, value)
    return made


def run(fitted=None, *, labels=30, learned=30, blank=90, unlabeled=90, **changes):
    scan = SimpleNamespace(
        notes=(),
        n_labeled=labels,
        learned_labels=learned,
        n_blank=blank,
        learned_unlabeled=unlabeled,
        rows=pa.table({}),  # in which no column gives itself away
        labels=[],
    )
    tally = SimpleNamespace(n=90, mean=0.93, classes=Counter(Adelie=60, Gentoo=30))
    usual = {
        "model": fitted or model(),
        "scan": scan,
        "tally": tally,
        "notes": (),
        "escaped": 0,
        "sha256": "",
        "seconds": 1.0,
        "scored": None,
    }
    return SimpleNamespace(**usual | changes)


def left_out(name, why, kind="text"):
    return SimpleNamespace(name=name, role="left out", why=why, kind=kind)


def of_ends(ends):
    """A model of numbers with such ends, each predicted as 0.5."""
    made = WeakTableModel("hours", "numbers", ends=("least", "most"))
    made.columns_ = SimpleNamespace(uses=[], used=[], unread={})
    made.allowed_ = np.array(ends)
    made.estimator_ = SimpleNamespace(_unseen=np.full((len(ends), 1), 0.5))
    made._calibrate(np.zeros((3, 1)), [], [])
    return made


def notes():
    """Of what was learned from, read and written."""
    perfect = SimpleNamespace(loo_score_=0.8)
    size = SimpleNamespace(name="size", role="known", kind="number", why="")
    seven = SimpleNamespace(outputs={"size": list(range(7))})
    known = model(known=("size",), columns=[size], encoder_=seven)
    for each in (
        run(),
        run(labels=9_000, learned=5_000),
        run(blank=900_000, unlabeled=20_000),
        run(known),
        run(model(choice_=ColumnChoice(("day",), 0.7, 0.9))),
        run(model(choice_=ColumnChoice(("day", "hour"), 0.9, 0.9))),
        run(model("numbers", choice_=ColumnChoice(("day",), 2.5, 2.0))),
        run(model(doubtful_=("day",), estimator_=perfect)),
        run(model(doubtful_=("day", "hour"), estimator_=perfect)),
        run(model(columns=[left_out("id", "it numbers the rows", "identifier")])),
        run(model(columns=[left_out(f"c{i}", "") for i in range(6)])),
        run(model(columns=[left_out(f"id{i}", "its codes") for i in range(7)])),
    ):
        found = leaking_columns(each.model, each.scan)
        list(learning_notes(each.model, each.scan, found))
    clumped_note(measured=True)
    clumped_note(measured=False)
    order_note()
    for codes in ((-999.0,), (98.0, 99.0)):
        list(code_notes([ColumnUse("size", "number", codes=codes)]))
    list(code_notes([ColumnUse("left", "date", codes=(2932896.0,))]))
    for each in (run(model(unread={"age": 1, "size": 0})), run(escaped=2)):
        list(common_notes(each))
    odd = [ColumnUse("age", "number", strays=9, stray=": c")]
    unread = {"age": 8, **dict.fromkeys("abcde", 1)}
    list(common_notes(run(model(columns=odd, unread=unread)), learned=True))
    forecast = TimeForecast(10_000_000, 240.0, time.monotonic() - 290.0)
    list(forecast.notes())
    list(dataclasses.replace(forecast, operations=7.5e11, bytes_moved=2.5e9).notes())
    for ends in ([[0.0, np.inf]] * 3, [[0.0, 1.0], [1.0, 3.0], [2.0, 2.0]]):
        list(weak_notes(of_ends(ends)))
    many = run(of_ends([[0.0, 1.0]] * 3), labels=9_000, learned=2_000)
    list(learning_notes(many.model, many.scan, leaking_columns(many.model, many.scan)))
    choice = ColumnChoice(("day", "hour"), 0.7, 0.9)
    yield choice.gain("classes", each=True)


def giveaways():
    """Of columns that labeled and unlabeled rows tell apart."""
    n, half = 400, 200
    given = [i < half for i in range(n)]
    draw = np.random.default_rng(1)
    kinds = draw.integers(0, 3, n)
    table = pa.table(
        {
            "x": draw.normal(size=n),
            "copy": [f"k{k}" for k in kinds],
            "shifted": draw.normal(size=n) + 3 * np.array(given),
            "reviewer": [f"r{i % 3}" if i < half else None for i in range(n)],
            "todo": [None if i < half else f"r{i % 3}" for i in range(n)],
            "sheet": [f"s{i % 4}" if i < half else f"t{i % 4}" for i in range(n)],
            "score": [1 + i % 5 if i < half else 0 for i in range(n)],
        }
    )
    y = [f"class {kinds[i]}" if given[i] else None for i in range(n)]
    scan = SimpleNamespace(rows=table, labels=y)
    for keep in ((), ("reviewer",)):
        made = TableModel("y", "classes", keep=keep)
        made.columns_ = Columns.of(table, (), keep, np.arange(n))
        leave_out_leaking(made.columns_.read(table), made.columns_.used, y, {*keep})
        list(leak_notes(made, leaking_columns(made, scan)))


def scores():
    """What `predict` says of rows, with and without known labels."""
    nothing = SimpleNamespace(n=0, mean=np.nan, classes=Counter())
    right, wrong = ["a"] * 12 + ["b"] * 6, ["a"] * 12 + ["b"] * 4 + ["a"] * 2
    classes, numbers, one = Sums(), Sums(), Sums()
    classes.add_classes(right, wrong, np.full(18, 0.9))
    line = np.arange(10.0)
    numbers.add_numbers(line, line + 0.5, line - 1, line + 1)
    one.add_numbers(line[:1], line[:1] + 0.5, line[:1] - 1, line[:1] + 1)
    of_numbers = SimpleNamespace(n=1, mean=12.5, classes={})
    for each in (
        run(),
        run(model("numbers"), tally=of_numbers),
        run(tally=nothing),
        run(scored=ScoredRows(model(), classes)),
        run(scored=ScoredRows(model(), classes, classes)),
        run(scored=ScoredRows(model(), Sums(), classes)),
        run(scored=ScoredRows(model(), classes, one)),
        run(model("numbers"), tally=of_numbers, scored=ScoredRows(model(), numbers)),
        run(model("numbers"), tally=of_numbers, scored=ScoredRows(model(), one)),
    ):
        yield from predicted_record(each, "new.csv")["summary"]


def unseen():
    for values in (
        ["cyan"],
        ["cyan", "gray", "a color with a very long name indeed, and more"],
    ):
        found = Unseen.__new__(Unseen)
        found.counts = {"color": Counter(values)}
        found.missing, found.rows = Counter({"weight": 30}), 40
        list(found.notes())


def explained():
    """Lines of `halfmoon explain`."""
    from halfmoon._cli.run_rows import _explained_lines

    for_it, against = (Reason(3, "left", 0.6),), (Reason(4, "right", -0.2),)
    cells = {i: {"x": str(i)} for i in range(2, 5)}
    for given, confidence, reasons, scale in (
        (None, 0.93, (for_it, against), "classes"),
        ("right", 0.93, (for_it, against), "classes"),
        (None, None, (for_it, against), "log"),
        (None, None, (for_it, against), "mixed"),
        (None, 0.5, ((), ()), "classes"),
    ):
        row = ShownRow(2, (), "left", "", confidence, "1", "3", given, *reasons)
        yield from _explained_lines(ExplainedRow(row, scale, cells), "side", ["x"])


def errors():
    """What stops a run that has begun."""
    for memory in ("lots", "100MB"):
        with refused():
            MemoryBudget.within(memory, taken=300_000_000)
    for error in (MemoryError("The kernel needs 3 GB, more than the 512 MB allowed."),
                  MemoryError(), ValueError("No column varies.")):  # fmt: skip
        with refused(), plain_errors():
            raise error
    for options in (
        {"features": ("y",)},
        {"known": ("x",), "exclude": ("x",)},
        {"exclude": ("bill_*",)},
        {"exclude": ("qq*",)},
    ):
        with refused():
            chosen_features(["x", "bill", "y"], Settings("y", **options))
    with refused():
        chosen_features([*map(str, range(100_000)), "y"], Settings("y"))
    with refused():
        explained_rows(None, SimpleNamespace(numbers_=None), [2], ["x"])
    rows = pa.table(
        {"x": [str(i) for i in NUMBERS], "c": [f"c{i % 30}" for i in NUMBERS]}
    )
    y = [f"class {i % 2}" if i < 40 else None for i in range(ROWS)]
    for known in (("w",), ("c",)):
        with refused():
            TableModel("y", "classes", known=known, budget=1e-9).fit(rows, y)
    with refused():
        TableModel("y", "classes").fit(rows.select([]), y)
    trained = TableModel("y", "classes")
    trained.columns_ = SimpleNamespace(used=[SimpleNamespace(name="z")])
    with refused():
        trained.transform(rows)


def all_of_runs():
    """All of these, under the name of each."""
    for part in (labels, columns, notes, giveaways, scores, unseen, explained, errors):
        yield from itertools.chain([f"# {part.__name__}"], part() or ())

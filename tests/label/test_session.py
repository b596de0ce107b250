"""A session without its server: questions, answers and progress."""

import json
from collections import Counter
from contextlib import ExitStack
from datetime import datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import halfmoon._label.session
from halfmoon._label.journal import Journal
from halfmoon._label.question_queue import Questions
from halfmoon._label.refit import Proposal, RefitResult
from halfmoon._label.session import Labeling, RefusedAnswer
from halfmoon.table._files import open_table
from halfmoon.table._run_settings import Settings, Stages
from small_tables import a_line, two_groups


def say(labeling, row, value, who="ann", id_=None):
    id_ = id_ or f"{who}{row}{len(labeling.answers)}"
    labeling.answer({"id": id_, "row": row, "value": value, "who": who, "seconds": 1.5})
    return id_


def lines():
    with open("t.labels.jsonl") as file:
        return [json.loads(line) for line in file]


@pytest.fixture
def typed_session(tmp_path, monkeypatch):
    """typed_session(x, y, labels, kind) is a session of a Parquet file."""
    monkeypatch.chdir(tmp_path)
    with ExitStack() as opened:

        def typed_session(x, y, labels, kind, **settings):
            plain = pa.array(y.astype(float) if kind != pa.bool_() else y)
            y = plain.cast(pa.float64() if pa.types.is_decimal(kind) else kind)
            if pa.types.is_decimal(kind):
                y = pa.array([Decimal(f"{each:.2f}") for each in y.to_pylist()], kind)
            is_given = pa.array(np.arange(len(x)) < labels)
            y = pc.if_else(is_given, y, pa.scalar(None, kind))
            pq.write_table(pa.table({"x": x, "y": y}), "t.parquet")
            journal = opened.enter_context(Journal("t.labels.jsonl"))
            asked = Settings("y", budget=1e-9, **settings)
            with open_table("t.parquet") as table:
                labeling = Labeling(table, asked, journal, (), Stages())
            labeling.refit()
            return labeling

        yield typed_session


def test_one_row_in_five_is_random_and_has_no_proposal(session):
    rows, _ = two_groups(n=80, labels=8)
    labeling = session(rows)
    labeling.refit()
    asked = labeling.next_questions("ann", 30)
    kinds = Counter(question["why"] for question in asked)
    assert kinds == {"chosen": 24, "random": 6}
    assert len({question["row"] for question in asked}) == 30
    for question in asked:
        assert (question["proposal"] is None) == (question["why"] == "random")
        text = json.dumps(question)
        if question["why"] == "random":  # nor does it come by another way
            assert "right" not in text
            assert "left" not in text
    near = next(x["proposal"] for x in asked if x["proposal"])["neighbors"]
    assert {each["label"] for each in near} <= {"left", "right"}
    assert near[0]["cells"]


def test_random_rows_are_predicted_before_their_answer(session):
    rows, truth = two_groups(n=80, labels=8)
    labeling = session(rows)
    labeling.refit()
    for question in labeling.next_questions("ann", 30):
        say(labeling, question["row"], str(truth[question["row"]]))
    told = [line for line in lines()[1:] if line["why"] == "random"]
    assert len(told) == 6
    assert all(line["predicted"] == line["value"] for line in told)
    assert all(line["labels"] == 8 and not line["shown"] for line in told)
    chosen = [line for line in lines()[1:] if line["why"] == "chosen"]
    assert all("predicted" not in line and line["shown"] for line in chosen)
    progress = labeling.progress("ann")
    assert progress["accuracy"]["value"] == 1.0
    assert progress["accuracy"]["n"] == 6
    assert progress["accuracy"]["low"] == pytest.approx(0.6097, abs=1e-4)
    assert "from 6 random rows" in progress["quality"]
    assert (progress["labels"], progress["answered"], progress["blank"]) == (38, 30, 42)


def test_a_row_that_was_undone_does_not_count_as_random(session):
    rows, truth = two_groups(n=80, labels=8)
    labeling = session(rows)
    labeling.refit()
    (question,) = [x for x in labeling.next_questions("ann", 5) if x["why"] == "random"]
    row = question["row"]
    say(labeling, row, "left", id_="one")
    back = labeling.undo({"id": "u", "who": "ann", "undo": "one"})
    assert (back["row"], back["undone"]) == (row, "left")
    say(labeling, row, str(truth[row]))
    assert "predicted" not in lines()[-1]
    # Nor after the next start, since the file remembers.
    labeling = session()
    labeling._asked["ann", row] = labeling.questions.question(row, "random")
    say(labeling, row, "right", id_="later")
    assert lines()[-1]["why"] == "chosen"


def test_there_is_a_next_row_until_all_are_labeled(session):
    rows, truth = two_groups(n=30, labels=0)
    labeling = session(rows)
    labeling.refit()
    seen = []
    while asked := labeling.next_questions("ann", 7):
        assert all(x["why"] == "random" for x in asked) or labeling.refits > 1
        for question in asked:
            seen.append(question["row"])
            say(labeling, question["row"], str(truth[question["row"]]))
        if len(seen) == 14:
            assert labeling.wants_refit
            labeling.refit()
            assert not labeling.wants_refit
    assert sorted(seen) == list(range(30))
    assert labeling.progress("ann")["stop"] == "Every row has a label. You can stop."


def test_undo_goes_back_any_number_of_steps_even_after_a_restart(session):
    rows, _ = two_groups(n=40, labels=8)
    labeling = session(rows)
    for row in range(10, 20):
        say(labeling, row, "left" if row % 3 else None)
    labeling = session()  # from the file alone
    for row in reversed(range(10, 20)):
        back = labeling.undo({"id": f"u{row}", "who": "ann", "undo": None})
        again = labeling.undo({"id": f"u{row}", "who": "ann", "undo": None})
        assert back["row"] == again["row"] == row
    assert labeling.undo({"id": "u0", "who": "ann", "undo": None}) is None
    assert labeling.undo({"id": "u1", "who": "ann", "undo": "nothing"}) is None
    assert labeling.progress("ann")["answered"] == 0
    assert len(lines()) == 1 + 10 + 10


def test_answers_for_lost_rows_do_not_block_undo(session):
    rows, _ = two_groups(n=40, labels=8)
    labeling = session(rows)
    for row in (20, 21):
        say(labeling, row, "left")
    labeling = session([row for i, row in enumerate(rows) if i != 22])
    back = labeling.undo({"id": "u", "who": "ann", "undo": None})
    assert back["row"] == 20
    assert labeling.answers.labels() == {}


def test_the_later_answer_counts_if_the_clock_was_set_back(session, monkeypatch):
    class Clock(datetime):
        year = 2031

        @classmethod
        def now(cls, zone):
            return datetime(cls.year, 1, 1, tzinfo=zone)

    monkeypatch.setattr(halfmoon._label.session, "datetime", Clock)
    labeling = session(two_groups()[0])
    say(labeling, 20, "left")
    Clock.year = 2030
    say(labeling, 20, "right")
    assert labeling.answers.labels() == {20: "right"}
    labeling = session()
    assert labeling.answers.labels() == {20: "right"}
    Clock.year = 2029
    say(labeling, 20, "left", id_="third")
    assert session().answers.labels() == {20: "left"}
    Clock.year = 2032
    say(labeling := session(), 21, "left")
    assert [line["when"][:4] for line in lines()[1:]] == ["2031"] * 3 + ["2032"]


def test_numbers_out_of_range_are_refused(session):
    rows, _ = a_line()
    labeling = session(rows, target="y")
    blank = labeling.questions.numbers[0]
    for wrong in (10**400, 1e101, float("nan"), float("inf"), True, "1"):
        with pytest.raises(RefusedAnswer):
            say(labeling, blank, wrong)
    said = {"id": "i", "row": blank, "value": 1, "who": "ann"}
    labeling.answer({**said, "seconds": 10**400})
    labeling.answer({**said, "id": "j", "seconds": float("nan")})
    assert [line["seconds"] for line in lines()[1:]] == [None, None]


def test_nobody_can_undo_the_answers_of_others(session):
    labeling = session(two_groups()[0])
    say(labeling, 20, "left", "ann", "one")
    assert labeling.undo({"id": "u", "who": "bob", "undo": "one"}) is None
    assert labeling.undo({"id": "u", "who": "bob", "undo": None}) is None
    assert labeling.progress("ann")["answered"] == 1


def test_an_answer_that_comes_twice_counts_once(session):
    labeling = session(two_groups()[0])
    say(labeling, 20, "left", id_="one")
    say(labeling, 20, "left", id_="one")
    assert len(lines()) == 2
    assert labeling.progress("ann")["answered"] == 1


def test_two_people(session):
    rows, truth = two_groups(n=60, labels=10)
    labeling = session(rows)
    labeling.refit()
    mine = [x["row"] for x in labeling.next_questions("ann", 20)]
    yours = [x["row"] for x in labeling.next_questions("bob", 20)]
    assert not set(mine) & set(yours)
    for row in mine:
        say(labeling, row, str(truth[row]), "ann")
    more = labeling.next_questions("bob", 20, held=yours)
    again = [x for x in more if x["why"] == "again"]
    assert 1 <= len(again) <= 2
    assert all(x["row"] in mine and x["proposal"] is None for x in again)
    assert all(
        "right" not in json.dumps(x) and "left" not in json.dumps(x) for x in again
    )
    say(labeling, again[0]["row"], str(truth[again[0]["row"]]), "bob")
    assert labeling.progress("bob")["agreement"].startswith("1 row labeled by several")
    assert "100" in labeling.progress("bob")["agreement"]
    say(labeling, mine[0], "neither", "bob")
    say(labeling, mine[0], "neither", "bob")
    told = labeling.progress("bob")
    answers = labeling.answers.every.values()
    assert {answer.who for answer in answers} == {"ann", "bob"}
    both = 2 if again[0]["row"] != mine[0] else 1
    assert told["agreement"].startswith(f"{both} row")
    assert labeling.answers.agreement() == (both, both - 1)
    answers = [x for x in lines()[1:] if x["row"] == mine[0] + 2]
    assert {x["who"] for x in answers} == {"ann", "bob"}  # both are kept


def test_rows_on_the_page_of_somebody_else_come_last(session):
    """Nobody is told that no row is left while there are some."""
    labeling = session(two_groups(n=30, labels=10)[0])
    labeling.refit()
    hers = [x["row"] for x in labeling.next_questions("ann", 15)]
    his = labeling.next_questions("bob", 30)
    assert len(his) == 20
    assert {x["row"] for x in his[:5]} == set(range(10, 30)) - set(hers)
    last = his[5:]
    assert {x["row"] for x in last} == set(hers)
    # Some of them were chosen, so none of them counts as random.
    assert {x["why"] for x in last} == {"chosen"}
    say(labeling, hers[0], "left", "ann")
    say(labeling, hers[0], "right", "bob")
    assert labeling.answers.agreement() == (1, 0)


def test_a_label_that_looks_wrong_is_asked_for_once(session):
    rows, truth = two_groups(n=80, labels=40)
    rows[5][3] = "left" if truth[4] == "right" else "right"
    labeling = session(rows)
    labeling.refit()
    assert 4 in labeling.questions.refit.checks
    asked = labeling.next_questions("ann", 10)
    (check,) = [x for x in asked if x["why"] == "check"]
    assert (check["row"], check["given"]) == (4, rows[5][3])
    assert check["proposal"]["value"] == truth[4]
    say(labeling, 4, str(truth[4]))
    assert lines()[-1]["why"] == "check"
    labeling.refit()
    more = labeling.next_questions("ann", 20)
    assert not [x for x in more if x["row"] == 4]
    assert labeling.progress("ann")["labels"] == 40


def test_numbers(session):
    rows, y = a_line()
    labeling = session(rows, "y")
    labeling.refit()
    asked = labeling.next_questions("ann", 5)
    proposal = next(x["proposal"] for x in asked if x["proposal"])
    assert float(proposal["low"]) < proposal["value"] < float(proposal["high"])
    for question in labeling.next_questions("ann", 30):
        say(labeling, question["row"], float(y[question["row"]]))
    told = labeling.progress("ann")
    assert told["kind"] == "numbers"
    assert 0 < told["accuracy"]["low"] < told["accuracy"]["value"] < 0.3
    assert told["quality"].startswith("Off by 0.0")
    for wrong in ("3", True, float("nan"), 1e200, [1]):
        with pytest.raises(RefusedAnswer):
            say(labeling, 40, wrong)


def test_invalid_values_are_refused(session):
    labeling = session(two_groups()[0])
    for wrong in ("", "  ", "x" * 1001, "a\0b", 3, ["a"], {}):
        with pytest.raises(RefusedAnswer):
            say(labeling, 20, wrong)
    for row in (-1, 40, "20", None, 2.0, True):
        with pytest.raises(RefusedAnswer, match="not in the table"):
            say(labeling, row, "left")
    with pytest.raises(RefusedAnswer, match="who"):
        say(labeling, 20, "left", who="", id_="i")
    with pytest.raises(RefusedAnswer, match="id"):
        labeling.answer({"row": 20, "value": "left", "who": "ann"})
    assert not labeling.journal.path.exists()


def test_answers_must_fit_the_type_of_the_column(session, tmp_path):
    import pandas as pd

    x = np.random.default_rng(0).normal(size=12)
    frame = pd.DataFrame({"x": x, "y": [1, 2, 2, 1] + [None] * 8})
    frame["y"] = frame["y"].astype("Int64")
    frame.to_parquet(tmp_path / "t.parquet")
    with Journal("t.labels.jsonl") as journal, open_table("t.parquet") as table:
        labeling = Labeling(table, Settings("y", budget=1e-9), journal, (), Stages())
        assert labeling.classes == ["1", "2"]
        say(labeling, 5, "3")
        with pytest.raises(RefusedAnswer, match="does not fit into 'y'"):
            say(labeling, 6, "three")
        labeling.refit()
        assert labeling.questions.refit.labels == 5


@pytest.mark.parametrize("kind", [pa.int64(), pa.float64(), pa.decimal128(9, 2)])
def test_an_accepted_number_is_the_one_that_was_shown(typed_session, kind):
    x = np.random.default_rng(0).uniform(0, 1, 60)
    y = (300 * x + 5).round() if pa.types.is_integer(kind) else (0.3 * x).round(2)
    labeling = typed_session(x, y, 30, kind, task="numbers")
    asked = [x for x in labeling.next_questions("ann", 20) if x["proposal"]]
    assert len(asked) == 16
    for question in asked:
        proposal = question["proposal"]
        assert float(proposal["text"]) == proposal["value"]
        say(labeling, question["row"], proposal["value"])
    given = [line["value"] for line in lines()[1:]]
    assert given == [float(x["proposal"]["text"]) for x in asked]


@pytest.mark.parametrize("kind", [pa.float64(), pa.int8(), pa.bool_(), pa.string()])
def test_an_accepted_class_is_one_of_the_buttons(typed_session, kind):
    """A column of 0 and 1 with blanks often holds 0.0 and 1.0."""
    x = np.random.default_rng(0).normal(size=60)
    labeling = typed_session(x, x > 0, 30, kind)
    buttons = labeling.classes
    assert len(buttons) == 2
    for question in labeling.next_questions("ann", 20):
        proposal = question["proposal"]
        if proposal:
            assert proposal["value"] == proposal["text"]
            near = {each["label"] for each in proposal["neighbors"]}
            assert {proposal["value"], *near} <= {*buttons}
            say(labeling, question["row"], proposal["value"])
        else:  # measures the accuracy
            say(labeling, question["row"], buttons[int(x[question["row"]] > 0)])
    assert labeling.classes == buttons
    told = [line for line in lines()[1:] if line["why"] == "random"]
    assert len(told) == 4
    assert sum(line["predicted"] == line["value"] for line in told) >= 3


def test_classes_of_a_scale_are_in_its_order(session):
    rows, _ = two_groups()
    labeling = session(rows, order=("right", "middle", "left"))
    assert labeling.classes == ["right", "middle", "left"]


def test_why_there_is_no_model(session):
    rows = [["x", "y"], *([i, "ab"[i % 2] if i < 20 else ""] for i in range(40))]
    labeling = session(rows, target="y")
    labeling.refit()
    assert labeling.progress("ann")["quality"].startswith("No column is left to learn")
    labeling = session([["x", "y"], *([i, ""] for i in range(40))], target="y")
    labeling.refit()
    assert "two different labels" in labeling.progress("ann")["quality"]


def test_classes_keep_their_keys(session):
    labeling = session(two_groups()[0], classes=["up", "right"])
    assert labeling.classes == ["up", "right", "left"]
    say(labeling, 20, "new")
    say(labeling, 21, " Another ")
    assert labeling.classes == ["up", "right", "left", "new", "Another"]
    assert session(classes=["up", "right"]).classes == labeling.classes


def test_the_table_is_sorted_and_grows_between_sessions(session):
    rows, truth = two_groups(n=40, labels=4)
    labeling = session(rows)
    for row in range(10, 20):
        say(labeling, row, str(truth[row]))
    new = [[str(9.5 + i), "n9", "3", ""] for i in range(4)]
    labeling = session([rows[0], *new, *rows[:0:-1]])
    told = labeling.progress("ann")
    assert (told["answered"], told["labels"], told["blank"]) == (10, 14, 30)
    found = labeling.answers.labels()
    assert found == {43 - row: truth[row] for row in range(10, 20)}
    assert labeling.sample.notes == ()
    labeling = session([rows[0], *rows[5:15]])
    assert "6 answers" in str(labeling.sample.notes[0])


def test_long_texts_and_marks(session):
    rows = [["t", "y"], ["<b>x</b>\n\u202eback\u0007", "a"], ["z" * 10**6, ""]]
    labeling = session(rows, "y")
    cells = {x["row"]: x["cells"] for x in labeling.next_questions("ann", 2)}
    ((name, text),) = cells[1]
    assert name == "t"
    assert len(text) < 21_000
    assert text.endswith("(1,000,000 characters)")
    ((_, text),) = labeling.sample.cells(0, ["t"])
    assert text == "<b>x</b>\n⟨U+202E⟩back⟨U+0007⟩"


@pytest.mark.slow
def test_more_columns_than_fit_on_a_page(session):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 200)).round(3)
    y = np.where(x[:, 150] > 0, "a", "b")
    x[:, 150] *= 3
    rows = [[*(f"c{j}" for j in range(200)), "y"]]
    rows += [[*x[i], y[i] if i < 30 else ""] for i in range(40)]
    labeling = session(rows, "y")
    labeling.refit()
    order = [name for name, _ in labeling.next_questions("ann", 1)[0]["cells"]]
    assert len(order) == 200
    assert order.index("c150") < 10


def test_the_order_of_random_rows_is_uniform():
    """Every row is equally likely to be the first random one."""
    first = Counter(Questions.drawn(range(5), seed).numbers[0] for seed in range(2000))
    assert all(330 < first[row] < 470 for row in range(5))  # 400 +- 3.9 deviations


def test_a_new_batch_replaces_the_old_one():
    questions = Questions(list(range(50, 100)))
    proposal = Proposal("a", "a", 0.9)
    old, new = range(10), range(10, 20)
    for batch in (old, new):
        questions.refit = RefitResult(
            5, list(batch), [], dict.fromkeys(batch, proposal)
        )
        found = questions.next_for("ann", 10, [3], {4: {}})
        chosen = [x.number for x in found if x.why == "chosen"]
        assert set(chosen) <= set(batch) - {3, 4}
        assert len(chosen) == 8


def test_discarded_queues_do_not_change_the_share_of_random_rows(session):
    """Pages fetch 20 rows, use three, and discard the others at each refit."""
    rows, truth = two_groups(n=200, labels=8)
    labeling = session(rows)
    labeling.refit()
    for _ in range(10):
        for question in labeling.next_questions("ann", 20)[:3]:
            say(labeling, question["row"], str(truth[question["row"]]))
    why = Counter(line["why"] for line in lines()[1:])
    assert why == {"chosen": 24, "random": 6}

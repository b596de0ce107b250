"""What the labeling page says, and what is refused there."""

import json
import os
from pathlib import Path
from unittest import mock

from halfmoon._cli.command_inputs import read_typed_labels
from halfmoon._label.access_guard import NO_ENTRY, Guard
from halfmoon._label.background import Background
from halfmoon._label.journal import Journal, read_journal
from halfmoon._label.labeling_progress import MoreLabelsGain, describe_progress
from halfmoon._label.live_accuracy import LiveAccuracy
from halfmoon._label.refit import RefitResult
from halfmoon._label.server import Site
from halfmoon._label.session import Labeling
from halfmoon.table._files import open_table
from halfmoon.table._run_settings import Settings, Stages
from label.asking import Asking
from sentences.of_files import refused
from small_tables import a_line, two_groups, write_csv

HOST = "127.0.0.1:8123"
HEADERS = {"Origin": f"http://{HOST}", "Content-Type": "application/json"}


def session(name, target):
    journal = Journal(f"{name}.labels.jsonl")
    with open_table(name) as table:
        return Labeling(table, Settings(target, budget=1e-9), journal, (), Stages())


def answered(labeling, row, value, who="ann"):
    said = {"id": f"{who}{row}", "row": row, "value": value, "who": who}
    labeling.answer(said | {"seconds": 2.5})


def pages():
    """What is refused, and what is said, of requests and answers."""
    labeling = session("t.csv", "side")
    site = Site(labeling, Background(labeling), None)
    guard = Guard(site.app(), [HOST], "secret", 8123)
    yield NO_ENTRY
    asking = Asking(guard, HOST)
    asking.get("/?token=secret")
    for headers in ({"Host": "elsewhere"}, {"Origin": "http://elsewhere"}, {}):
        yield asking.post("/answer", "{}", headers).text
    yield asking.request("PUT", "/answer").text
    good = {"id": "i", "row": 20, "value": "left", "who": "ann"}
    for said in (good | {"row": 99}, good | {"value": ""}, good | {"who": ""}):
        asking.post("/answer", json.dumps(said), HEADERS)
    for body in ("[]", "x" * 200_000, json.dumps(good | {"value": "\ud800"})):
        asking.post("/answer", body, HEADERS)
    asking.post("/answer", "{}", {"Origin": HEADERS["Origin"]})
    for path in ("/questions?n=many", "/row?row=99", "/page/none.js", "/files/table"):
        asking.get(path)
    numbers = session("line.csv", "y")
    for value in ("many", 1e200):
        with refused():
            answered(numbers, 40, value)
    sample = type(numbers.sample)
    with mock.patch.object(sample, "label", side_effect=ValueError), refused():
        answered(numbers, 40, 2.5)
    yield from progress(labeling)


def progress(labeling):
    """Sentences beside the row."""
    for told in (
        LiveAccuracy(0.9, 0.7, 0.97, 20, True),
        LiveAccuracy(1.0, 0.72, 1.0, 10, True),
        LiveAccuracy(12.3, 10.1, 14.9, 31, False),
    ):
        yield told.sentence
    for gain in (0.024, 0.01, 0.004):
        yield MoreLabelsGain(gain, gain, True).sentence
        yield MoreLabelsGain(gain, gain, False).sentence
    yield describe_progress(labeling, "ann")["quality"]
    labeling.refits = 1
    labeling.questions.refit = RefitResult(why_not="one class")
    with mock.patch.object(type(labeling.sample), "given_classes", return_value=[]):
        yield describe_progress(labeling, "ann")["quality"]
    labeling.questions.refit = RefitResult(12)
    yield describe_progress(labeling, "ann")["quality"]
    for row in range(20, 24):
        answered(labeling, row, "left")
    answered(labeling, 20, "left", "bob")
    told = describe_progress(labeling, "ann")
    yield from (told["agreement"], told["pace"])
    share = LiveAccuracy(0.999, 0.995, 1.0, 900, True)
    error = LiveAccuracy(1.0, 0.9, 1.1, 30, False)
    place = "halfmoon._label.labeling_progress.live_accuracy"
    for found, gain in (
        (share, None),
        (share, MoreLabelsGain(0.0, 0.0, True)),
        (error, MoreLabelsGain(0.0, 0.0, False)),
    ):
        less = (
            found if gain is None else LiveAccuracy(0.9, 0.8, 0.95, 30, found.is_share)
        )
        with mock.patch(place, return_value=less):
            labeling.questions.refit = RefitResult(12, gain=gain)
            yield describe_progress(labeling, "ann")["stop"]
    for row in range(10, 40):
        answered(labeling, row, "left", "eve")
    yield describe_progress(labeling, "ann")["stop"]
    labeling.journal.close()


def files():
    """Files of answers."""
    data = Path("t.csv.labels.jsonl").read_bytes()
    Path("torn.jsonl").write_bytes(b"nothing\n" + data[:-5])
    read_journal("torn.jsonl")
    Path("torn.jsonl").write_bytes(b"{}\n{}\n" + data)
    read_journal("torn.jsonl")
    with refused():
        read_journal(".")
    journal = Journal("t.csv.labels.jsonl")
    line = {**json.loads(data.splitlines()[1]), "id": "new"}
    with refused(), mock.patch.object(os, "fsync", side_effect=OSError(28, "No space")):
        journal.append(line)
    with refused():
        Journal("t.csv.labels.jsonl").append(line)
    Path("t.csv.labels.jsonl").rename("moved.jsonl")
    with refused():
        journal.append(line)
    Path("moved.jsonl").rename("t.csv.labels.jsonl")
    journal.close()
    with refused():
        Journal("t.csv")
    with refused():
        Journal("there/t.labels.jsonl").append(line, ["x"])
    rows, _ = two_groups(labels=10)
    write_csv("fewer.csv", rows[:13])
    with open_table("fewer.csv") as table:
        read_typed_labels(["t.csv.labels.jsonl"], table, "side")
    write_csv("fewest.csv", rows[:3])
    with open_table("fewest.csv") as table, refused():
        read_typed_labels(["t.csv.labels.jsonl"], table, "side")
    Path("one.jsonl").write_bytes(b"".join(data.splitlines(keepends=True)[:2]))
    with open_table("fewest.csv") as table, refused():
        read_typed_labels(["one.jsonl"], table, "side")
    Path("empty.labels.jsonl").write_bytes(data.splitlines(keepends=True)[0])
    with open_table("t.csv") as table, refused():
        read_typed_labels(["empty.labels.jsonl"], table, "side")


def all_of_labels():
    """All of these."""
    write_csv("t.csv", two_groups(labels=10)[0])
    write_csv("line.csv", a_line()[0])
    yield from ("", "# the labeling page")
    yield from pages()
    files()

"""The file of answers: its content, and what survives a crash."""

import json
import os
import random
import time

import pytest

from halfmoon._label.answers import Answers
from halfmoon._label.journal import Journal, head_of, is_journal, read_journal
from halfmoon.table._table_errors import OutputError

COLUMNS = ("a", "b")
HEAD = head_of(COLUMNS)


def answer(number, value="x", **more):
    line = {"id": f"i{number}", "head": HEAD, "row": number, "key": f"k{number}"}
    when = f"2026-01-01T00:00:{number:02}.000Z"
    return line | {"column": "y", "value": value, "who": "ann", "when": when} | more


@pytest.fixture
def path(tmp_path):
    return tmp_path / "t.labels.jsonl"


def filled(path, n=3):
    with Journal(path) as journal:
        for number in range(n):
            assert journal.append(answer(number), COLUMNS)
    return path.read_bytes()


def test_a_head_then_one_line_per_answer(path):
    data = filled(path)
    lines = [json.loads(line) for line in data.splitlines()]
    assert lines[0] == {"head": HEAD, "version": 1, "columns": ["a", "b"]}
    assert lines[1:] == [answer(i) for i in range(3)]
    read = read_journal(path)
    assert read.heads == {HEAD: COLUMNS}
    assert read.lines == lines[1:]
    assert read.notes == ()
    assert is_journal(path)


def test_no_file_is_left_without_an_answer(path):
    with Journal(path):
        assert path.read_bytes() == b""  # locked, so that no other process begins
        with pytest.raises(OutputError, match="open in another halfmoon"):
            Journal(path).__enter__()
    assert not path.exists()
    assert read_journal(path).lines == []
    assert not is_journal(path)
    path.touch()
    with Journal(path):
        pass
    assert path.exists()  # it was there before


def test_a_place_that_cannot_be_written_is_refused_at_once(tmp_path):
    with pytest.raises(OutputError, match="cannot be written"):
        Journal(tmp_path / "nowhere" / "t.labels.jsonl").__enter__()


@pytest.mark.parametrize("data", [b"a,b\n1,2", b"x", b"\0\0\0", b'{"id": 5}\n{"a'])
def test_no_answers_are_written_to_another_file(path, data):
    path.write_bytes(data)
    with pytest.raises(OutputError, match="is not a file of answers"):
        Journal(path)
    assert path.read_bytes() == data


@pytest.mark.parametrize("n", [0, 1, 5, 20, 60])
def test_a_file_whose_first_line_was_cut_off_is_used(path, n):
    data = filled(path)
    path.write_bytes(data[:n])
    assert filled(path) == data


def test_other_files_with_ids_are_no_journals(path):
    path.write_text('{"id": "a", "kind": "left"}\n{"id": "b", "kind": "right"}\n')
    assert not is_journal(path)


def test_append_returns_after_fsync(path, monkeypatch):
    done = []
    real = os.fsync

    def fsync(handle):
        done.append(os.fstat(handle).st_size)
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    with Journal(path) as journal:
        for number in range(3):
            journal.append(answer(number), COLUMNS)
            assert done[-1] == path.stat().st_size


def test_a_line_that_comes_twice_is_written_once(path):
    with Journal(path) as journal:
        assert journal.append(answer(1), COLUMNS)
        assert not journal.append(answer(1), COLUMNS)
    with Journal(path) as journal:
        assert not journal.append(answer(1), COLUMNS)
        assert journal.append(answer(2), COLUMNS)
    assert [line["id"] for line in read_journal(path).lines] == ["i1", "i2"]


def test_a_torn_last_line_is_dropped(path):
    data = filled(path)
    starts = [0, *(i + 1 for i, byte in enumerate(data) if byte == 10)]
    last = len(data) - 1
    for cut in range(starts[-2] + 1, last):
        path.write_bytes(data[:cut])
        read = read_journal(path)
        assert [line["id"] for line in read.lines] == ["i0", "i1"]
        assert "cut off" in str(read.notes[0])
        with Journal(path) as journal:
            journal.append(answer(7), COLUMNS)
        again = read_journal(path)
        assert [line["id"] for line in again.lines] == ["i0", "i1", "i7"]
        assert again.notes == ()
    path.write_bytes(data[:last])  # all of it but the line end
    with Journal(path) as journal:
        journal.append(answer(7), COLUMNS)
    assert [x["id"] for x in read_journal(path).lines] == ["i0", "i1", "i2", "i7"]


def test_a_damaged_line_is_read_in_one_pass(path):
    # If each beginning were read to the end: 10**12 characters
    path.write_bytes(b'{"' * 1_000_000 + b"\n" + json.dumps(answer(1)).encode())
    begin = time.process_time()
    read = read_journal(path)
    assert time.process_time() - begin < 10
    assert [line["id"] for line in read.lines] == ["i1"]
    assert [str(note) for note in read.notes] == [
        f"1 line of {path.name} is damaged and was dropped."
    ]


def test_concatenated_files_even_if_one_is_torn(path):
    data = filled(path)
    other = path.with_name("bob.jsonl")
    with Journal(other) as journal:
        journal.append(answer(5, who="bob"), COLUMNS)
    both = data + other.read_bytes() + data
    path.write_bytes(both)
    read = read_journal(path)
    assert [line["id"] for line in read.lines] == ["i0", "i1", "i2", "i5"]
    path.write_bytes(data[:-9] + other.read_bytes())
    read = read_journal(path)
    assert [line["id"] for line in read.lines] == ["i0", "i1", "i5"]
    assert "1 line of t.labels.jsonl is damaged" in str(read.notes[0])


def test_damaged_lines_are_dropped_with_a_note(path):
    data = filled(path)
    wrong = [b"[]", b"1", b'{"id": 3}', b"\xff\xfe", b'{"id": "q", "value": []}']
    for more in ({"seconds": "x"}, {"labels": "x"}, {"predicted": []}, {"columns": 3}):
        wrong.append(json.dumps(answer(9, **more)).encode())
    path.write_bytes(b"\n".join(wrong) + b"\n" + data)
    read = read_journal(path)
    assert len(read.lines) == 3
    assert "9 lines" in str(read.notes[0])


def test_one_process_at_a_time(path):
    filled(path)
    with Journal(path), pytest.raises(OutputError, match="open in another halfmoon"):
        Journal(path).append(answer(9), COLUMNS)


def test_a_full_disk_leaves_no_half_line(path, monkeypatch):
    data = filled(path)
    real = os.write

    def write(handle, line):
        real(handle, line[:10])
        raise OSError(28, "No space left on device")

    with Journal(path) as journal:
        monkeypatch.setattr(os, "write", write)
        with pytest.raises(OutputError, match="No space left"):
            journal.append(answer(8), COLUMNS)
        monkeypatch.undo()
        assert path.read_bytes() == data
        assert journal.append(answer(8), COLUMNS)


@pytest.mark.parametrize("how", ["removed", "moved", "replaced"])
def test_a_file_that_was_moved_is_not_written_to(path, how):
    data = filled(path)
    with Journal(path) as journal:
        away = path.with_name("away")
        if how == "removed":
            path.unlink()
        else:
            path.rename(away)
        if how == "replaced":
            path.write_bytes(data)
        with pytest.raises(OutputError, match="removed, moved or replaced"):
            journal.append(answer(8), COLUMNS)
        if how == "moved":
            assert away.read_bytes() == data
            away.rename(path)
            assert journal.append(answer(8), COLUMNS)
            assert read_journal(path).lines[-1]["id"] == "i8"


@pytest.mark.parametrize("name", ["value", "seconds", "predicted", "labels", "row"])
def test_numbers_that_no_float_holds_are_damaged(path, name):
    filled(path)
    line = json.dumps(answer(8) | {name: 0}).replace(f'"{name}": 0', f'"{name}": 1E999')
    assert "1E999" in line
    path.write_bytes(path.read_bytes() + line.encode() + b"\n")
    read = read_journal(path)
    assert [each["id"] for each in read.lines] == ["i0", "i1", "i2"]
    assert "1 line of t.labels.jsonl is damaged" in str(read.notes[0])


def test_texts_of_any_kind(path):
    values = ["<script>", "=1+1", "\u202eabc", "a\nb", "é", "\ud800", "x" * 100_000]
    with Journal(path) as journal:
        for number, value in enumerate(values):
            journal.append(answer(number, value), COLUMNS)
    found = [line["value"] for line in read_journal(path).lines]
    assert found == [*values[:5], "?", values[6]]


def test_a_cut_loses_only_the_last_answer(path):
    data = filled(path, 20)
    rng = random.Random(0)
    for cut in rng.sample(range(len(data)), 60):
        path.write_bytes(data[:cut])
        whole = max(0, data[:cut].count(b"\n") - 1)
        found = [line["id"] for line in read_journal(path).lines]
        assert found[:whole] == [f"i{i}" for i in range(whole)]
        assert len(found) <= whole + 1


def answers_for(*numbers):
    return Answers("y", {(HEAD, f"k{number}", number): number for number in numbers})


def test_the_later_answer_of_one_person_wins():
    answers = answers_for(1)
    lines = [answer(1, "x"), answer(1, "z", id="later") | {"when": "2027"}]
    answers.add_all(lines[::-1])  # in any order of the files
    assert answers.labels() == {1: "z"}
    answers.add({"id": "u", "undo": "later", "who": "ann"})
    assert answers.labels() == {1: "x"}


@pytest.mark.parametrize("step", [1, -1])
def test_an_undo_counts_before_and_after_its_answer(step):
    answers = answers_for(1)
    answers.add_all([answer(1), {"id": "u", "undo": "i1"}][::step])
    assert answers.labels() == {}


def test_the_most_common_answer_of_several_people():
    answers = answers_for(1)
    for number, (who, value) in enumerate([("ann", "x"), ("bob", "z"), ("eve", "x")]):
        line = answer(1, value, id=f"p{number}", who=who)
        answers.add(line | {"when": f"2026-01-0{number + 1}"})
        expected = ["x", "z", "x"][number]
        assert answers.labels() == {1: expected}
    assert answers.agreement() == (1, 0)
    answers.add(answer(1, "x", id="p4", who="bob") | {"when": "2026-02-01"})
    assert answers.agreement() == (1, 1)


def test_skipped_rows_and_other_columns_have_no_label():
    answers = answers_for(1, 2, 3)
    answers.add_all([answer(1, None), answer(2, column="z"), answer(3, "x")])
    assert answers.labels() == {3: "x"}
    assert answers.of_person("ann")[-1].id == "i3"
    assert answers.of_person("bob") == []


def test_answers_for_rows_that_are_not_in_the_table_do_not_count():
    answers = answers_for(1)
    answers.add_all([answer(1, "x"), answer(2, "x")])
    assert answers.labels() == {1: "x"}


@pytest.mark.parametrize("name", ["id", "value", "who", "predicted"])
def test_a_line_with_half_a_character_is_damaged(path, name):
    filled(path)
    with path.open("a") as file:
        file.write(json.dumps(answer(7) | {name: "\ud800"}) + "\n")
        file.write(json.dumps(answer(8, value="\U0001f600")) + "\n")
    read = read_journal(path)
    assert [line["row"] for line in read.lines] == [0, 1, 2, 8]
    assert "1 line of t.labels.jsonl is damaged" in str(read.notes[0])

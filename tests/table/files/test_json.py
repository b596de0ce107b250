"""Tables of JSON: objects on lines, and arrays of objects."""

import gzip
import io
import json

import pytest

from halfmoon.table._files import json_table, new_table, open_table
from halfmoon.table._files.json_table import changed_object, object_spans
from halfmoon.table._table_errors import ReadError

LINES = (
    '{"size": 1.50, "kind": "a", "on": true}\n'
    "\n"
    ' {"kind":null,"size":2e0,"list":[1, {"x": "}"}]}\r\n'
    '{"size": null, "caf\\u00e9": "\\"q\\" \\\\"}'
)


def read(data, **options):
    with open_table(io.BytesIO(data), **options) as table:
        rows = [row for batch in table.batches() for row in batch.rows.to_pylist()]
    return table, rows


def rewritten(data, replace, append, place=None, **options):
    made = io.BytesIO() if place is None else place
    with (
        open_table(io.BytesIO(data), **options) as table,
        new_table(made, like=table) as out,
    ):
        for batch in table.batches():
            span = slice(batch.start, batch.start + len(batch))
            out.write(
                batch,
                {k: v[span] for k, v in replace.items()},
                {k: v[span] for k, v in append.items()},
            )
    return made.getvalue().decode() if place is None else place.read_text()


def test_keys_are_columns_in_order_of_appearance():
    table, rows = read(LINES.encode(), batch_rows=2)
    assert table.format.name == "jsonl"
    assert table.columns == ("size", "kind", "on", "list", "café")
    assert [str(field.type) for field in table.schema] == [
        "double",
        "string",
        "bool",
        "string",
        "string",
    ]
    assert rows[1] == {
        "size": 2.0,
        "kind": None,
        "on": None,
        "list": '[1, {"x": "}"}]',
        "café": None,
    }
    assert rows[2]["café"] == '"q" \\'
    assert table.first_row == 1


@pytest.mark.parametrize("batch_rows", [1, 2, 100])
def test_objects_keep_their_text(batch_rows):
    made = rewritten(
        LINES.encode(),
        {"kind": [None, "b", "c"]},
        {"sure": [None, 0.5, 0.25]},
        batch_rows=batch_rows,
    )
    assert made == (
        '{"size": 1.50, "kind": "a", "on": true, "sure": null}\n'
        "\n"
        ' {"kind":"b","size":2e0,"list":[1, {"x": "}"}], "sure": 0.5}\r\n'
        '{"size": null, "caf\\u00e9": "\\"q\\" \\\\", "kind": "c", "sure": 0.25}'
    )


def test_an_array_keeps_its_text():
    text = '[\n  {"a": 1,\n   "y": null},\n  {"a": 2, "y": 3}\n]\n'
    table, rows = read(text.encode())
    assert table.format.name == "json"
    assert rows == [{"a": 1, "y": None}, {"a": 2, "y": 3}]
    made = rewritten(text.encode(), {"y": ["7", None]}, {})
    assert made == text.replace("null", "7")


def test_rows_within_an_object_are_named(tmp_path):
    rows = [{"a": i} for i in range(10)]
    path = tmp_path / "t.json"
    path.write_text(json.dumps({"status": "ok", "data": rows}))
    message = r"one object with the rows in 'data'; .* jq -c '\.\[\"data\"\]\[\]' FILE"
    with pytest.raises(ReadError, match=message):
        open_table(path)
    path.write_text(json.dumps({"id": 1, "items": rows[:9]}))  # one row
    with open_table(path) as table:
        assert table.columns == ("id", "items")


def test_an_object_of_columns_is_refused():
    cells = {"a": {"0": 1, "1": 2}, "kind": {"0": "x", "1": None}}
    with pytest.raises(ReadError, match=r"cells of each column.*orient='records'"):
        read(json.dumps(cells).encode())
    one = {"a": {"x": 1}, "b": {"x": 2}, "c": 3}
    assert read(json.dumps(one).encode())[1][0]["c"] == 3
    two = b"\n".join([json.dumps(cells).encode()] * 2)
    assert len(read(two)[1]) == 2


def test_other_tables_become_json(tmp_path):
    data = b"code,x,kind\n007,1.50,=a\n,2,\n"
    made = rewritten(data, {"kind": [None, "b"]}, {}, tmp_path / "t.jsonl")
    assert made == (
        '{"code": "007", "x": 1.50, "kind": "=a"}\n'
        '{"code": null, "x": 2, "kind": "b"}\n'
    )
    made = rewritten(data, {"kind": [None, "b"]}, {"s": [1, 2]}, tmp_path / "t.json")
    assert json.loads(made)[1] == {"code": None, "x": 2, "kind": "b", "s": 2}


def test_json_becomes_other_tables(tmp_path):
    made = rewritten(LINES.encode(), {"kind": [None, "b", "c"]}, {}, tmp_path / "t.csv")
    assert made.splitlines()[:3] == [
        "size,kind,on,list,café",
        "1.5,a,true,,",
        '2.0,b,,"[1, {""x"": ""}""}]",',
    ]


def test_compressed_lines_and_byte_order_marks():
    data = b'\xef\xbb\xbf{"a": 1}\n'
    assert read(gzip.compress(data))[1] == [{"a": 1}]
    assert rewritten(data, {}, {"b": [2]}).encode() == b'\xef\xbb\xbf{"a": 1, "b": 2}\n'


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('{"a": 1}\n{"a": 2\n', "line 2 is not JSON"),
        ('{"a": 1}\n[2]\n', "line 2 is not an object"),
        ('[{"a": 1}, 2]', "is not an array of objects: it holds '2]'"),
        ('[{"a": 1} {"a": 2}]', "a comma is missing at character 11"),
        ('[{"a": 1}', "is not an array of objects"),
        ('[{"a": 1}] x', "more text follows its end"),
        ("[{}]", "holds no objects"),
        ('{"data": [\n1]}', "line 1 is not JSON"),
        ('{"a": ' + "[" * 100_000, "line 1 is not JSON"),
    ],
    ids=range(9),
)
def test_errors_say_where(text, what):
    with pytest.raises(ReadError, match=r"standard input") as caught:
        read(text.encode())
    assert what in str(caught.value)


def test_large_arrays_are_refused(monkeypatch):
    monkeypatch.setattr(json_table, "MAX_ARRAY", 20)
    with pytest.raises(ReadError, match="one object on each line instead"):
        read(b'[{"a": 1}, {"a": 2}, {"a": 3}]')


def test_values_of_several_kinds_are_text():
    _, rows = read(b'{"a": 1}\n{"a": "x"}\n{"a": true}\n{"a": 99999999999999999999}\n')
    assert [row["a"] for row in rows] == ["1", "x", "true", "99999999999999999999"]


@pytest.mark.parametrize("text", ["{}", "{ }", '{"a" : [ ] , "b":{"c":"}"} }'])
def test_objects_are_changed_in_place(text):
    changed = changed_object(text, {"b": 5, "new": "x"})
    assert json.loads(changed) == {**json.loads(text), "b": 5, "new": "x"}
    assert list(object_spans(text)) == list(json.loads(text))


def test_long_integers_beside_fractions_keep_their_digits():
    long = 2**53 + 1
    _, rows = read(f'{{"a": {long}}}\n{{"a": 0.5}}\n{{"a": 3}}\n'.encode())
    assert [row["a"] for row in rows] == [str(long), "0.5", "3"]
    _, rows = read(f'{{"a": {long}}}\n{{"a": 3}}\n'.encode())
    assert [row["a"] for row in rows] == [long, 3]


@pytest.mark.parametrize("cell", ['"\\ud800"', '["\\ud800"]'])
def test_half_a_character_in_a_value_is_named(cell):
    with pytest.raises(ReadError, match="half a character in a value"):
        read(f'{{"a": {cell}}}\n'.encode())

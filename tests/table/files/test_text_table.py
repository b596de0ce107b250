"""Delimited text: every character is kept, and cells are added."""

import csv
import io

import numpy as np
import pandas as pd
import pytest

from halfmoon.table import Settings, fill_table
from halfmoon.table._files import new_table, open_table, records, text_table
from halfmoon.table._files.records import split_around
from halfmoon.table._table_errors import CommandError, OutputError, ReadError

# Each: the bytes, and the options that are needed to read them.
ODD = {
    "plain": (b"a,b\n1,2\n3,4\n", {}),
    "no last line end": (b"a,b\n1,2\n3,4", {}),
    "crlf": (b"a,b\r\n1,2\r\n3,4\r\n", {}),
    "cr": (b"a,b\r1,2\r3,4\r", {}),
    "mixed line ends": (b"a,b\r\n1,2\n3,4\r5,6", {}),
    "mark": (b"\xef\xbb\xbfa,b\n1,2\n", {}),
    "quotes": (b'a,b\n"1 ""x"" 2",2\n"",""\nplain "quote",3\n', {}),
    "text behind a quote": (b'a,b\n"1"x,2\n"1"x"y,2\n', {}),
    "line ends in quotes": (b'a,b\r\n"1\n2\r\n3\r4",5\r\n6,7\r\n', {}),
    "header in quotes": (b'"a\nb","c,d"\n1,2\n', {}),
    "semicolon": ("a;b\n1,5;é\n2,5;ü\n".encode(), {}),
    "tab": (b"a\tb\n1,5\t2\n", {}),
    "pipe": (b"a|b\n1|2\n", {}),
    "colon": (b"a:b\n1:2\n", {"delimiter": ":"}),
    "blank lines": (b"\n\na,b\n\n1,2\n  \n\n3,4\n\n", {}),
    "spaces": (b" a , b\n 1 , 2 \n", {}),
    "utf-16": ("a,b\né,\U0001f600\n".encode("utf-16"), {}),
    "utf-16 big": (b"\xfe\xff" + "a,b\né,2\n".encode("utf-16-be"), {}),
    "utf-32": ("a,b\né,2\n".encode("utf-32"), {}),
    "latin-1": ("a,b\né,2\n".encode("latin-1"), {"encoding": "latin-1"}),
    "utf-16 without mark": ("a,b\né,2\n".encode("utf-16-le"), {}),
    "utf-16 big, no mark": ("a,b\nЖ,Њ\nЊ,2\n".encode("utf-16-be"), {}),
    "utf-16 as said": ("a,b\né,2\n".encode("utf-16-le"), {"encoding": "utf-16"}),
    "one column": (b'a\n1\n\n""\n2\n', {}),
    "odd spaces": ("a,b\n1\u2028x,2\x0b\x1c\n".encode(), {}),
    "nameless column": (b",b\n1,2\n", {}),
    "open end": (b"a,b\n1,\n,\n", {}),
}


def opened(name, **more):
    data, options = ODD[name]
    return open_table(io.BytesIO(data), **options, **more)


def written(table, replace=None, append=None, **options):
    """Bytes of the output; `replace` and `append` map row numbers to values."""
    stream = io.BytesIO()
    with new_table(stream, table, **options) as out:
        for batch in table.batches():
            numbers = range(batch.start, batch.start + len(batch))
            out.write(
                batch,
                {
                    name: [of(i) for i in numbers]
                    for name, of in (replace or {}).items()
                },
                {name: [of(i) for i in numbers] for name, of in (append or {}).items()},
            )
    return stream.getvalue()


def cells_of(data, layout, one_column=False):
    """The cells as the standard library reads them, without blank lines."""
    whole = data[len(layout.bom) :].decode(layout.encoding)
    rows = csv.reader(io.StringIO(whole, newline=""), delimiter=layout.delimiter)
    if one_column:
        return [row or [""] for row in rows]
    return [row for row in rows if row and row != ["  "]]


@pytest.mark.parametrize("batch_rows", [1, 2, 100])
@pytest.mark.parametrize("name", ODD)
def test_a_copy_is_the_same_bytes(name, batch_rows):
    with opened(name, batch_rows=batch_rows) as table:
        assert written(table) == ODD[name][0]


@pytest.mark.parametrize("batch_rows", [1, 2, 100])
@pytest.mark.parametrize("name", ODD)
def test_old_cells_are_kept_and_new_ones_added(name, batch_rows):
    data = ODD[name][0]
    new = ['x,"y"', "z\n;|\t", " ", "plain"]
    with opened(name, batch_rows=batch_rows) as table:
        one = len(table.columns) == 1
        before = cells_of(data, table.format, one)
        assert list(table.columns) == before[0]
        rows = [
            [column[i].as_py() for column in batch.rows.columns]
            for batch in table.batches()
            for i in range(len(batch))
        ]
        assert rows == before[1:]
        more = written(table, append={"n": float, "t": lambda i: new[i % 4]})
        after = cells_of(more, table.format)
    assert after[0] == [*before[0], "n", "t"]
    assert after[1:] == [
        [*row, f"{i}.0", new[i % 4]] for i, row in enumerate(before[1:])
    ]


@pytest.mark.parametrize("name", ODD)
def test_a_replaced_cell_changes_nothing_else(name):
    with opened(name) as table:
        last = len(table.columns) - 1
        before = cells_of(ODD[name][0], table.format, last == 0)
        column = table.columns[last]
        replace = {column: lambda i: "x'y" if i % 2 == 0 else None}
        data = written(table, replace=replace)
        expected = [
            [*row[:last], "x'y"] if i % 2 == 0 else row
            for i, row in enumerate(before[1:])
        ]
        assert cells_of(data, table.format, last == 0) == [before[0], *expected]


def test_the_rest_of_a_quoted_record_is_unchanged():
    data = b'a,b,c\n"1", "x" ,"p""q"\n"2",y,"z"\n'
    with open_table(io.BytesIO(data)) as table:
        changed = written(table, {"b": lambda i: "n,m" if i else "k"})
    assert changed == b'a,b,c\n"1",k,"p""q"\n"2","n,m","z"\n'


@pytest.mark.parametrize(
    "record", ['a,"b,c",', "", '"a"', ',"x""y"z,"q', 'a"b,c', '"a,b"c"d,e,']
)
def test_cells_are_found_as_by_the_parser(record):
    (cells,) = csv.reader([record or '""'])
    parts, ends = split_around([record + "\r\n"], ",", range(len(cells)))
    texts = [part[0].as_py() for part in parts]
    assert ("".join(texts), ends[0].as_py()) == (record, "\r\n")
    assert [next(csv.reader([text or '""']))[0] for text in texts[1::2]] == cells
    for i, text in enumerate(texts[1::2]):
        before, cell, after = split_around([record], ",", [i])[0]
        assert before[0].as_py() + text + after[0].as_py() == record
        assert cell[0].as_py() == text


def test_pandas_reads_the_output_as_the_input(tmp_path, rng):
    frame = pd.DataFrame(
        {
            "number": rng.standard_normal(500),
            "text": [f'row "{i}", of\nmany' for i in range(500)],
            "gap": np.where(rng.random(500) < 0.3, np.nan, 1.5),
        }
    )
    frame.to_csv(tmp_path / "in.csv", index=False)
    values = rng.standard_normal(500)
    with (
        open_table(tmp_path / "in.csv", batch_rows=64) as table,
        new_table(tmp_path / "out.csv", table) as out,
    ):
        for batch in table.batches():
            part = slice(batch.start, batch.start + len(batch))
            out.write(batch, append={"new": values[part]})
    assert table.n_rows == 500
    exact = {"dtype": str, "keep_default_na": False}
    after = pd.read_csv(tmp_path / "out.csv", **exact)
    pd.testing.assert_frame_equal(
        after.drop(columns="new"), pd.read_csv(tmp_path / "in.csv", **exact)
    )
    assert [float(cell) for cell in after["new"]] == list(values)


def test_raw_lines_blank_lines_and_progress():
    with opened("blank lines", batch_rows=1) as table:
        seen = []
        batches = list(table.batches(lambda done, total: seen.append((done, total))))
        assert [list(batch.raw) for batch in batches] == [["1,2\n"], ["3,4\n"]]
        assert [batch.start for batch in batches] == [0, 1]
        blanks = "".join(text for batch in batches for text in batch.blanks.values())
        assert len((table.lead + blanks).splitlines()) == 6
        assert seen[-1] == (len(ODD["blank lines"][0]),) * 2


@pytest.mark.parametrize("quote", [b"", b'"'])
def test_batches_end_with_a_piece_of_text(monkeypatch, quote):
    monkeypatch.setattr(records, "PIECE_CHARACTERS", 10)
    monkeypatch.setattr(text_table, "PART_ROWS", 1)
    row = quote + b"1" + quote + b",2\n"
    with open_table(io.BytesIO(b"a,b\n" + row * 7)) as table:
        sizes = [len(batch) for batch in table.batches()]
    assert sizes == ([2, 2, 2, 1] if quote else [3, 3, 1])


@pytest.mark.parametrize("piece", range(1, 12))
def test_blank_lines_stay_at_the_end_of_each_piece(monkeypatch, piece):
    monkeypatch.setattr(records, "PIECE_CHARACTERS", piece)
    data = b"\n\na,b\n\n1,2\n \n\n\n3,4\n\n\n  \n\n\n"
    with open_table(io.BytesIO(data)) as table:
        assert written(table) == data
        assert table.n_rows == 2


def test_a_header_without_rows():
    with open_table(io.BytesIO(b"a,b\r\n")) as table:
        assert list(table.batches()) == []
        assert table.n_rows == 0
        stream = io.BytesIO()
        with new_table(stream, table) as out:
            out.write(table.empty(), append={"c": []})
    assert stream.getvalue() == b"a,b,c\r\n"


def test_another_delimiter_quotes_cells_again(tmp_path):
    (tmp_path / "in.csv").write_bytes(b'a,b\r\n"x,y",1\tz\r\n')
    with (
        open_table(tmp_path / "in.csv") as table,
        new_table(tmp_path / "out.tsv", table) as out,
    ):
        for batch in table.batches():
            out.write(batch, append={"c": ["q"]})
    assert (tmp_path / "out.tsv").read_bytes() == b'a\tb\tc\r\nx,y\t"1\tz"\tq\r\n'


def test_a_character_that_the_encoding_lacks():
    with (
        opened("latin-1") as table,
        pytest.raises(OutputError, match="'€' does not exist in iso8859-1"),
    ):
        written(table, append={"c": lambda i: "€"})


ERRORS = {
    b"": "standard input is empty. A table with a header and rows is needed.",
    b"\n \n": "standard input is empty. A table with a header and rows is needed.",
    b"a,b\n1,2\n3,4,5\n": (
        "standard input, line 3 has 3 cells, but the header has 2. Put a cell with "
        "',' in it in quotes; otherwise give every row as many cells as the header."
    ),
    b'a,b\n"1\n2",3\n\n4,5,6\n': "standard input, line 5 has 3 cells, but the header",
    b"a\n1:2\n3,4\n": "line 3 has 2 cells, but the header has 1. If another character",
    b"a,b\n1,2\r3,\xe9\n": (
        "standard input, line 3: byte 0xe9 is not UTF-8. If the file is in another "
        "encoding, name it: `encoding='cp1252'`, or shift_jis, gb18030 or cp1251 for "
        "Japanese, Chinese or Cyrillic letters."
    ),
    b"\xff\xfea\x00,\x00b\x00\n\x00\x00\xd8": (
        "standard input, line 2: byte 0x00 is not UTF-16-LE. If the file is in another "
        "encoding, name it: `encoding='utf-8'`."
    ),
    b"a,b\n1,\x00\n": "standard input, line 2 holds a null byte, which text does not",
    "a,b\n1,é\n".encode("utf-32-le"): "Name the encoding: `encoding='utf-32-le'`.",
    b"0,1,0,c,1,0\n": (
        "standard input has duplicate column names: '0' (columns 1, 3 and 6); '1' "
        "(columns 2 and 5). Give each column its own name."
    ),
    b"a,a,a (1)\n": "has duplicate column names: 'a (1)' (columns 1 and 3). Give",
    b'a,b\n1,2\n"3,4\n5,6\n': (
        "standard input, line 3: a quotation mark in the record that begins here is "
        "never closed. Close it, or double it if it belongs to the text."
    ),
    b"PK\x03\x04": "is a zip archive. Unpack it, or: unzip -p FILE",
}


def test_columns_of_one_name_are_numbered(tmp_path):
    data = b"tag,size,tag,tag\na,1,,b\n"
    with (
        open_table(io.BytesIO(data)) as table,
        new_table(tmp_path / "t.csv", like=table) as out,
    ):
        assert table.columns == ("tag (1)", "size", "tag (2)", "tag (3)")
        (note,) = table.notes
        for batch in table.batches():
            out.write(batch, {"tag (2)": ["c"]})
    assert str(note) == (
        "Columns of one name were numbered, such as 'tag (1)' to 'tag (3)'. A text "
        "output keeps the header."
    )
    assert (tmp_path / "t.csv").read_bytes() == b"tag,size,tag,tag\na,1,c,b\n"


def test_letters_of_windows_are_read(tmp_path):
    data = "a,b\ngrün,1\nété,2\n“x”,3\n".encode("cp1252")
    with (
        open_table(io.BytesIO(data)) as table,
        new_table(tmp_path / "t.csv", like=table) as out,
    ):
        (note,) = table.notes
        for batch in table.batches():
            assert batch.rows["a"].to_pylist() == ["grün", "été", "“x”"]
            out.write(batch)
    assert (tmp_path / "t.csv").read_bytes() == data
    assert note.text == (
        "The text is not in UTF-8; it was read as cp1252, the encoding of Windows in "
        "western countries."
    )


@pytest.mark.parametrize(
    "data",
    [
        "a,b\n東京,1\n大阪,2\n".encode("shift-jis"),
        "a,b\n北京,1\n上海,2\n".encode("gb18030"),
        "a,b\nМосква,1\nКиев,2\n".encode("cp1251"),
        "a,b\ngrün,1\n".encode() + b"gr\xfcn,2\n",  # a part is UTF-8
        b"a,b\ngr\xfcn,\x012\n",  # no text
    ],
)
def test_other_bytes_beyond_utf_8_are_an_error(data):
    with (
        pytest.raises(
            ReadError, match=r"is not UTF-8.*or shift_jis, gb18030 or cp1251"
        ),
        open_table(io.BytesIO(data)) as table,
    ):
        list(table.batches())


def test_rows_that_end_in_commas(tmp_path):
    lines = [f"{i * i},{'ab'[i % 2] if i < 20 else ''},,," for i in range(40)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["x,kind,,,", *lines]) + "\n")
    with open_table(path) as table:
        assert table.columns == ("x", "kind", "column 3", "column 4", "column 5")
    out = tmp_path / "out.csv"
    with open_table(path) as table:
        fill_table(table, out, Settings("kind", budget=1e-9))
    written = out.read_text().splitlines()
    assert written[0] == "x,kind,,,,kind_source,kind_confidence"
    cells = [line.split(",") for line in written[1:]]
    assert [row[0] for row in cells] == [str(i * i) for i in range(40)]
    assert all(row[2:5] == ["", "", ""] for row in cells)


@pytest.mark.parametrize("data", ERRORS)
def test_errors_say_where_and_what(data):
    with pytest.raises(ReadError) as caught, open_table(io.BytesIO(data)) as table:
        list(table.batches())
    assert ERRORS[data] in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("quote", [b"", b'"'])
def test_a_record_without_end_is_refused(monkeypatch, quote):
    monkeypatch.setattr("halfmoon.table._files.records.MAX_RECORD", 1000)
    data = b"a,b\n1,2\n" + quote + b"xyz" * 100_000
    what = "line 3: a quotation mark" if quote else "Line 3 of .* is longer than 16 MB"
    with open_table(io.BytesIO(data)) as table, pytest.raises(ReadError, match=what):
        list(table.batches())
    lines = b'a,b\n1,2\n"' + b"x\n" * 100_000
    with (
        open_table(io.BytesIO(lines)) as table,
        pytest.raises(ReadError, match=r"line 3: .* is not closed within 16 MB"),
    ):
        list(table.batches())


def test_the_line_number_of_a_bad_byte_far_down(tmp_path):
    path = tmp_path / "far.csv"
    path.write_bytes(b"a,b\r\n" + b"1,2\r\n" * 200_000 + b"\xff,2\r\n")
    with open_table(path) as table, pytest.raises(ReadError, match=r"line 200002: "):
        list(table.batches())


@pytest.mark.parametrize(
    ("option", "value", "what"),
    [
        ("encoding", "klingon", "The encoding 'klingon' is not known. Common ones are"),
        ("encoding", "base64", "The encoding 'base64' is not known"),
        ("delimiter", ",,", "The delimiter ',,' is not a single character"),
        ("delimiter", '"', "is not a single character"),
        ("format", "docx", "The format 'docx' is not known. Give one of csv, tsv, par"),
    ],
)
def test_invalid_options_are_refused(option, value, what):
    with pytest.raises(CommandError, match=what):
        open_table(io.BytesIO(b"a,b\n"), **{option: value})


# ---- rows with fewer cells than the header -----------------------------------------


def of_text(text):
    return open_table(io.BytesIO(text.encode()))


def rows_of(table):
    return [tuple(row.values()) for b in table.batches() for row in b.rows.to_pylist()]


def test_missing_cells_at_the_end_are_empty_and_noted_once():
    with of_text("a,b,c\n1,2,3\n4\n\n5,6\n7,8,9\n") as table:
        for _ in range(2):
            assert rows_of(table) == [
                ("1", "2", "3"),
                ("4", "", ""),
                ("5", "6", ""),
                ("7", "8", "9"),
            ]
    (note,) = table.notes
    assert note.text == "2 rows have fewer cells than the header (lines 3, 5)."
    assert note.important


def test_the_text_of_a_short_row_gets_its_delimiters():
    with of_text('a;b;c\r\n1;"x;y"\r\n4;5;6') as table:
        (batch,) = table.batches()
    assert list(batch.raw) == ['1;"x;y";\r\n', "4;5;6"]


def test_quick_and_slow_reading_agree_on_short_rows():
    plain = "a,b\n" + "1,2\n" * 5 + "3\n" + "4,5\n" * 5
    quoted = plain.replace("4,5", '"4",5')
    with of_text(plain) as first, of_text(quoted) as second:
        assert rows_of(first) == rows_of(second)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b,c\n1,2\n3,4\n", "the header has 3 cells, but every row has 2. If a name"),
        (
            "a,b,c\n1,2,3\n4,x\ny,6\n7,8,9\n",
            "line 3 has 2 of 3 cells, and the next line",
        ),
        ("a,b\n1,2\n3\n4,5,6\n", "line 4 has 3 cells, but the header has 2"),
    ],
)
def test_cells_that_may_belong_elsewhere_are_errors(text, message):
    with of_text(text) as table, pytest.raises(ReadError, match=message):
        rows_of(table)


def test_a_filled_table_has_all_cells_in_their_columns(tmp_path):
    sizes = [2 * i for i in range(30)]
    rows = [f"{x},{'ab'[x > 29]}" if x % 3 == 0 else f"{x}" for x in sizes]
    given, filled = tmp_path / "t.csv", tmp_path / "f.csv"
    given.write_text("\n".join(["x,kind", *rows]) + "\n")
    with open_table(given) as table:
        fill_table(table, filled, Settings("kind", budget=1e-9))
    header, *lines = filled.read_text().splitlines()
    assert header.split(",")[:3] == ["x", "kind", "kind_source"]
    assert {len(line.split(",")) for line in lines} == {len(header.split(","))}
    assert [line.split(",")[0] for line in lines] == [str(x) for x in sizes]
    kinds = [line.split(",")[1] for line in lines]
    right = [kind == "ab"[x > 29] for x, kind in zip(sizes, kinds, strict=True)]
    assert sum(right) >= 28
    assert all(right[i] for i in range(0, 30, 3))  # labels stay

"""Errors: one line, an exit code, and no files left behind."""

import os
import signal
import subprocess
import sys
import time

import pytest

from small_tables import error_of, two_groups, write_csv

QUICK = ("--budget", "0.000001", "--no-report")


@pytest.fixture
def table(folder):
    rows, _ = two_groups()
    write_csv("t.csv", rows)
    return rows


def files(folder):
    return sorted(os.listdir(folder))


def test_missing_column(run, table, folder):
    result = run("fill", "t.csv", "--target", "sides", *QUICK)
    assert result.exit_code == 2
    line = error_of(result)
    assert "no column 'sides'" in line
    assert "Did you mean 'side'?" in line
    assert files(folder) == ["t.csv"]


def test_without_a_target_the_only_column_with_blanks_is_suggested(run, table):
    result = run("fill", "t.csv", *QUICK)
    assert result.exit_code == 2
    assert error_of(result) == (
        "halfmoon: Which column should be filled? 'side' is the only column with "
        "blanks: use --target side."
    )


def test_without_a_target_the_columns_with_blanks_are_listed(run, table):
    table[3][2] = table[20][2] = "NA"
    for row in table[1:]:
        row[1] = ""  # a column of blanks cannot be learned from
    write_csv("t.csv", table)
    assert "Columns with blanks: 'z' (2 blank), 'side' (30 blank)." in (
        error_of(run("fill", "t.csv", *QUICK))
    )


def test_no_target_and_no_blanks(run, table):
    write_csv("t.csv", table[:11])
    line = error_of(run("fill", "t.csv", *QUICK))
    assert "No column has both labels and blanks" in line
    assert "'x', 'note', 'z', 'side'" in line


@pytest.mark.parametrize("option", ["--features", "--exclude", "--known"])
def test_missing_columns_of_options(run, table, option):
    result = run("fill", "t.csv", "-t", "side", option, "w", *QUICK)
    assert result.exit_code == 2
    assert f"no column 'w' (in {option[2:]})" in error_of(result)


def test_no_blanks(run, table):
    write_csv("t.csv", [table[0], *(row for row in table[1:] if row[3])])
    result = run("fill", "t.csv", "-t", "side", *QUICK)
    assert result.exit_code == 4
    assert "Every row of 'side' has a label: there is nothing to fill" in (
        error_of(result)
    )


def test_all_blanks(run, table):
    write_csv("t.csv", [table[0], *(row for row in table[1:] if not row[3])])
    result = run("fill", "t.csv", "-t", "side", *QUICK)
    assert result.exit_code == 4
    assert "No row of 'side' has a label" in error_of(result)


def test_one_class(run, table):
    kept = [row for row in table[1:] if row[3] in ("", "left")]
    write_csv("t.csv", [table[0], *kept])
    result = run("fill", "t.csv", "-t", "side", *QUICK)
    assert result.exit_code == 4
    assert "Every label of 'side' is 'left'" in error_of(result)


def test_ten_thousand_classes(run):
    rows = [["x", "name"], *([str(i), f"name {i}"] for i in range(10_000))]
    write_csv("t.csv", [*rows, *([str(i), ""] for i in range(50))])
    result = run("fill", "t.csv", "-t", "name", *QUICK)
    assert result.exit_code == 4
    assert "'name' has 10,000 different values in 10,000 labels" in error_of(result)


def test_duplicate_column_names(run, table):
    write_csv("t.csv", [["x", "note", "x", "side"], *table[1:]])
    result = run("fill", "t.csv", "-t", "x", *QUICK)
    assert result.exit_code == 2
    assert "no column 'x' (target). It has 'x (1)', 'note', 'x (2)'" in error_of(result)


def test_ragged_rows(run, table):
    table[7].append("more")
    write_csv("t.csv", table)
    result = run("fill", "t.csv", "-t", "side", *QUICK)
    assert result.exit_code == 3
    assert "line 8 has 5 cells, but the header has 4" in error_of(result)


def test_wrong_encoding(run, folder):
    (folder / "t.csv").write_bytes("x,side\n1,\xe9\n2,\n".encode("latin-1"))
    result = run("fill", "t.csv", "-t", "side", *QUICK)
    assert result.exit_code == 3
    line = error_of(result)
    assert "line 2: byte 0xe9 is not UTF-8" in line
    assert "--encoding cp1252" in line


def test_the_right_encoding(run, folder, table):
    text = "\n".join(",".join(row).replace("left", "l\xe9ft") for row in table)
    (folder / "t.csv").write_bytes(text.encode("latin-1"))
    result = run("fill", "t.csv", "-t", "side", "--encoding", "latin-1", *QUICK)
    assert result.exit_code == 0, result.output
    out = (folder / "t.filled.csv").read_bytes().decode("latin-1")
    assert out.count("l\xe9ft") == 20


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\x00\x01\x02" * 50])
def test_no_table(run, folder, content):
    (folder / "t.csv").write_bytes(content)
    result = run("fill", "t.csv", "-t", "side", *QUICK)
    assert result.exit_code == 3
    assert "t.csv" in error_of(result)


def test_header_only(run, folder):
    (folder / "t.csv").write_text("x,side\n")
    result = run("fill", "t.csv", "-t", "side", *QUICK)
    assert result.exit_code == 3
    assert "columns but no rows" in error_of(result)


def test_missing_file(run):
    result = run("fill", "nothing.csv", "-t", "side", *QUICK)
    assert result.exit_code == 3
    assert "nothing.csv does not exist" in error_of(result)


def test_a_missing_file_is_found_before_libraries_are_imported():
    code = (
        "import sys; sys.argv = ['halfmoon', 'fill', 'typo.csv', '-t', 'y']\n"
        "from halfmoon._cli.commands import app\n"
        "try: app()\n"
        "except SystemExit as end: print(end.code, 'pandas' in sys.modules)"
    )
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, check=False, capture_output=True, text=True)
    assert run.stdout == "3 False\n", run.stderr
    assert "typo.csv does not exist. Check the name" in run.stderr


def test_too_little_memory_is_reported_before_any_work(run, table, folder):
    result = run("fill", "t.csv", "-t", "side", "--memory", "100MB", *QUICK)
    assert result.exit_code == 6
    line = error_of(result)
    assert "100 MB of memory is too little" in line
    enough = line.split("--memory ")[1].removesuffix(".")
    result = run("fill", "t.csv", "-t", "side", "--memory", enough, *QUICK)
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("memory", ["lots", "-1", "0"])
def test_invalid_amounts_of_memory(run, table, memory):
    result = run("fill", "t.csv", "-t", "side", "--memory", memory, *QUICK)
    assert result.exit_code == 2
    assert "--memory" in error_of(result)


PLACES = ["m.halfmoon", "t.filled.csv", "t.report.html"]
THREE_FILES = ("-t", "side", "--budget", "0.000001", "--model", "m.halfmoon")


@pytest.mark.parametrize("place", PLACES)
def test_nothing_is_overwritten_without_the_option(run, table, folder, place):
    (folder / place).write_text("mine")
    result = run("fill", "t.csv", *THREE_FILES)
    assert result.exit_code == 5
    assert f"{place} already exists" in error_of(result)
    assert files(folder) == sorted(["t.csv", place])
    assert (folder / place).read_text() == "mine"


def test_files_are_overwritten_with_the_option(run, table, folder):
    for place in PLACES:
        (folder / place).write_text("mine")
    assert run("fill", "t.csv", *THREE_FILES, "--overwrite").exit_code == 0
    assert all((folder / place).read_bytes() != b"mine" for place in PLACES)


@pytest.mark.parametrize("option", ["--output", "--report", "--model"])
def test_the_input_is_never_overwritten(run, table, folder, option):
    before = (folder / "t.csv").read_bytes()
    os.symlink("t.csv", "link.csv")
    for place in ("t.csv", "./t.csv", "link.csv"):
        result = run(
            *("fill", "t.csv", "-t", "side", option, place, "--overwrite"),
            *("--budget", "0.000001"),
        )
        assert result.exit_code == 5
        assert "is the input" in error_of(result)
    assert (folder / "t.csv").read_bytes() == before
    assert files(folder) == ["link.csv", "t.csv"]


def test_labels_and_models_are_inputs_too(run, table, folder):
    quick = ("fill", "t.csv", "-t", "side", *QUICK)
    assert run(*quick, "--model", "m.halfmoon", "-o", "first.csv").exit_code == 0
    (folder / "typed.csv").write_text("row,side\n30,left\n")
    before = {name: (folder / name).read_bytes() for name in files(folder)}
    labels = ("--labels", "typed.csv", "-o", "./typed.csv", "--overwrite")
    for command in (
        (*quick, *labels),
        ("predict", "m.halfmoon", "t.csv", "-o", "m.halfmoon", "--overwrite"),
    ):
        result = run(*command)
        assert result.exit_code == 5
        assert "is the input, which is never overwritten" in error_of(result)
    assert before == {name: (folder / name).read_bytes() for name in files(folder)}


@pytest.mark.skipif(os.name == "nt", reason="needs pipes")
def test_a_model_does_not_take_the_place_of_a_device(run, table, folder):
    os.mkfifo("pipe")
    options = ("-t", "side", *QUICK, "--model", "pipe", "--overwrite")
    result = run("fill", "t.csv", *options)
    assert result.exit_code == 5
    assert "pipe is a device or pipe, where a model cannot go" in error_of(result)
    assert files(folder) == ["pipe", "t.csv"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--report", "-"), "--report - is standard output"),
        (("--model", "-"), "--model - is standard output"),
        (("-o", "a", "--report", "./a"), "--output and --report are both ./a"),
        (("--report", "a", "--model", "a"), "--report and --model are both a"),
    ],
)
def test_outputs_that_share_a_path_are_refused(run, table, folder, options, words):
    result = run("fill", "t.csv", "-t", "side", "--overwrite", *options)
    assert result.exit_code == 2
    assert words in error_of(result)
    assert files(folder) == ["t.csv"]


def test_a_folder_that_does_not_exist(run, table):
    result = run("fill", "t.csv", "-t", "side", "-o", "there/t.csv", *QUICK)
    assert result.exit_code == 5
    assert "does not exist" in error_of(result)


def test_a_new_column_that_exists_already(run, table):
    table[0][1] = "side_confidence"
    write_csv("t.csv", table)
    result = run("fill", "t.csv", "-t", "side", *QUICK)
    assert result.exit_code == 2
    assert "already has a column 'side_confidence'" in error_of(result)


def test_a_table_with_the_target_alone(run):
    write_csv("t.csv", [["side"], ["left"], ["right"], ["NA"]])
    result = run("fill", "t.csv", "-t", "side", *QUICK)
    assert result.exit_code == 2
    assert "No column is left to learn from" in error_of(result)


def test_an_unknown_option_is_a_command_error(run):
    assert run("fill", "t.csv", "--tarjet", "side").exit_code == 2


def test_errors_as_json(run, table):
    result = run("fill", "t.csv", "-t", "sides", "--json", *QUICK)
    assert result.exit_code == 2
    import json

    record = json.loads(result.stdout)
    assert (record["status"], record["code"]) == ("error", 2)
    assert "no column 'sides'" in record["error"]


def test_debug_shows_the_traceback(run, table):
    result = run("fill", "t.csv", "-t", "sides", "--debug", *QUICK)
    assert type(result.exception).__name__ == "CommandError"


@pytest.mark.skipif(os.name == "nt", reason="needs signals")
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)]
)
def test_an_interrupted_run_leaves_nothing(folder, number, code):
    if signal.getsignal(number) is signal.SIG_IGN:
        pytest.skip("the tests run in the background of a shell, without Ctrl-C")
    # A long text takes long enough to encode that the run can be stopped.
    rows, _ = two_groups(4000, 400)
    write_csv("t.csv", rows)
    process = subprocess.Popen(
        [sys.executable, "-m", "halfmoon", "fill", "t.csv", "-t", "side"],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 60
    while len(files(folder)) == 1 and time.monotonic() < deadline:
        time.sleep(0.02)
    assert len(files(folder)) == 2  # the hidden file that is being written
    time.sleep(0.2)
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert process.returncode == code, said
    assert b"Traceback" not in said
    assert files(folder) == ["t.csv"]

"""Help with examples on every command, and completion."""

import subprocess
import sys

import pytest

from halfmoon._cli.commands import app


@pytest.mark.parametrize("command", ["", *app.commands])
def test_every_command_has_help_with_examples(run, command):
    result = run(*([command] if command else []), "--help")
    assert result.exit_code == 0
    examples = result.output.split("Examples:")[1].split("Options:")[0].splitlines()
    lines = [line.strip() for line in examples if line.strip().startswith("halfmoon ")]
    assert lines
    assert all(command in line for line in lines)


def test_exit_codes_are_listed(run):
    output = run("--help").output
    for code in ("0", "1", "2", "3", "4", "5", "6", "7", "130"):
        assert f"  {code}  " in output


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(run, shell):
    result = run("completion", shell)
    assert result.exit_code == 0
    assert "_HALFMOON_COMPLETE" in result.output


def test_options_are_completed(monkeypatch):
    from click.shell_completion import ShellComplete

    complete = ShellComplete(app, {}, "halfmoon", "_HALFMOON_COMPLETE")
    commands = [item.value for item in complete.get_completions([], "")]
    assert commands == [
        *("completion", "explain", "fill", "inspect", "label", "next", "predict")
    ]
    options = [item.value for item in complete.get_completions(["fill"], "--un")]
    assert options == ["--unlabeled"]


def test_help_loads_no_heavy_library():
    code = (
        "import sys; sys.argv = ['halfmoon', 'fill', '--help']\n"
        "from halfmoon._cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print([m for m in ('pandas', 'matplotlib', 'jinja2', 'rich') "
        "if m in sys.modules])"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert said.strip().endswith("[]")


@pytest.mark.parametrize(
    "missing", ["click", "pyarrow", pytest.param("pandas", marks=pytest.mark.slow)]
)
def test_a_missing_library_is_named_with_its_install_command(missing):
    code = (
        f"import sys; sys.modules[{missing!r}] = None\n"
        f"sys.argv = ['halfmoon', 'fill', {__file__!r}, '-t', 'y']\n"
        "from halfmoon._cli import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.strip().splitlines()[-1] == (
        f"halfmoon: the command line needs {missing}, which is not installed. Run: "
        f'pip install "halfmoon[table]"'
    )
    assert "Traceback" not in done.stderr

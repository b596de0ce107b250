"""Runs that stop, go on, miss their data or fail; and the page that tells of them."""

import json

import pytest
from experiments.__main__ import main
from experiments.experiment import Experiment, Size, all_experiments
from experiments.page import Claim, Page, Table
from experiments.report import write_report
from experiments.runner import missing_data, run_all
from experiments.store import Store, key


def squares(calls, upto=4, fail_at=None, **settings):
    """An experiment that squares numbers and notes which it was asked for."""

    def run(number):
        calls.append(number)
        if number == fail_at:
            raise ArithmeticError("no square today")
        return {"square": number**2 + 1e-9}

    def report(runs):
        total = sum(run.result["square"] for run in runs)
        table = Table("Squares.", ["sum"], [[f"{total:g}"]])
        return Page([table], [Claim("the sum is 14", _verdict(total), f"{total:g}")])

    defaults = {"name": "laplacian-squares", "title": "squares", "setting": "Numbers."}
    return Experiment(
        cells=lambda size: [{"number": n} for n in range(size.pick(upto, 2))],
        run=run,
        report=report,
        **(defaults | settings),
    )


def _verdict(total):
    return "reproduced" if round(total, 6) == 14 else "not reproduced"


def test_a_stopped_run_goes_on_where_it_was(tmp_path):
    store, calls = Store(tmp_path), []
    run_all([squares(calls, upto=2)], Size(), store)
    outcome = run_all([squares(calls, upto=4)], Size(), store)
    assert calls == [0, 1, 2, 3]
    assert outcome.done == 2
    runs = store.read("laplacian-squares").values()
    assert [run.result["square"] for run in runs] == [1e-09, 1.0, 4.0, 9.0]
    run_all([squares(calls, upto=4)], Size(), store, fresh=True)
    assert calls[4:] == [0, 1, 2, 3]


def test_each_result_is_kept_at_once_and_in_the_order_of_cells(tmp_path):
    store, calls = Store(tmp_path), []

    def stopped(number):
        if number == 2:
            raise KeyboardInterrupt
        return {"square": number**2}

    experiment = squares(calls)
    broken = Experiment("laplacian-squares", "", experiment.cells, stopped, None)
    with pytest.raises(KeyboardInterrupt):
        run_all([broken], Size(), store)
    assert list(store.read("laplacian-squares")) == [key({"number": n}) for n in (0, 1)]
    assert json.loads((tmp_path / "laplacian-squares.json").read_text())["machine"]


def test_a_failing_cell_is_told_and_the_others_go_on(tmp_path):
    store, calls = Store(tmp_path), []
    outcome = run_all([squares(calls, fail_at=1)], Size(), store)
    assert calls == [0, 1, 2, 3]
    assert "no square today" in outcome.failed["laplacian-squares"]
    assert len(store.read("laplacian-squares")) == 3


def test_missing_data_skips_with_the_way_to_get_it(tmp_path, monkeypatch):
    monkeypatch.delenv("HALFMOON_DATA", raising=False)
    experiment = squares([], data=("mnist",))
    outcome = run_all([experiment], Size(), Store(tmp_path))
    message = outcome.skipped["laplacian-squares"]
    assert "python -m experiments.data download mnist" in message
    assert "HALFMOON_DATA" in message
    assert outcome.done == 0


def test_the_page_has_tables_verdicts_and_what_is_missing(tmp_path):
    store = Store(tmp_path / "results")
    run_all([squares([])], Size(), store)
    drawn = squares([], name="laplacian-again", runs_of="laplacian-squares")
    other = squares([], name="fredholm-cubes", title="cubes")
    write_report([squares([]), drawn, other], Size(), store, tmp_path / "RESULTS.md")
    text = (tmp_path / "RESULTS.md").read_text()
    assert text.count("| the sum is 14 | **reproduced** | 14 |") == 2
    assert "### fredholm-cubes: cubes\n\n*Not run yet.*" in text
    assert "From the runs of laplacian-squares" in text
    assert "| [laplacian-squares](#laplacian-squares-squares) | the sum is 14" in text


def test_a_verdict_is_one_of_four():
    with pytest.raises(ValueError, match="verdict is 'yes'"):
        Claim("", "yes", "")


def test_every_experiment_can_be_listed_and_is_small_when_quick(capsys):
    known = all_experiments()
    assert main(["list"]) == 0
    listed = capsys.readouterr().out
    for name, experiment in known.items():
        assert name in listed
        assert len(experiment.setting) > 100
        assert experiment.source in known
        cells = experiment.cells(Size(2, quick=True))
        assert 0 < len(cells) <= len(experiment.cells(Size()))
        assert len({key(cell) for cell in cells}) == len(cells)


def test_an_unknown_name_is_refused():
    with pytest.raises(SystemExit, match="There is no experiment fredholm-table-99"):
        main(["run", "fredholm-table-99"])


def test_no_data_is_asked_for_that_has_no_source(monkeypatch, tmp_path):
    monkeypatch.setenv("HALFMOON_DATA", str(tmp_path))
    for experiment in all_experiments().values():
        message = missing_data(experiment)
        assert (message is None) == (not experiment.data)


def test_ctrl_c_says_how_to_go_on(monkeypatch, tmp_path, capsys):
    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("experiments.__main__.run_all", stopped)
    assert main(["run", "all", "--out", str(tmp_path)]) == 130
    assert "The same command goes on from here" in capsys.readouterr().err


def test_runs_of_another_size_are_kept_but_not_told_of(tmp_path):
    store = Store(tmp_path / "results")
    run_all([squares([])], Size(), store)
    run_all([squares([])], Size(quick=True), store, fresh=True)
    assert len(store.read("laplacian-squares")) == 4
    write_report([squares([])], Size(quick=True), store, tmp_path / "RESULTS.md")
    assert (
        "| the sum is 14 | **not reproduced** | 1 |"
        in (tmp_path / "RESULTS.md").read_text()
    )

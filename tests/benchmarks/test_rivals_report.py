"""Rivals in the pages: the splits that all have, ranks by hand, failures."""

import json

import pytest
from benchmarks.rivals import fresh_report, report, results


@pytest.fixture
def kept(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "PATH", tmp_path / "rivals.json")


def league_run(table, split, model, **found):
    at = {"table": table, "labels": 20, "split": split, "model": model}
    return at | {"seconds": 1.0, "version": "1"} | found


def test_runs_are_merged_by_their_key(kept):
    results.merge("league", [league_run("wine", s, "xrfm", error=0.5) for s in (0, 1)])
    tables = {"table": "diabetes", "share": 0.05, "seed": 0, "model": "xrfm"}
    results.merge("tables", [tables | {"score": 0.1}])
    results.merge("league", [league_run("wine", 1, "xrfm", error=0.25)])
    found = results.read("league")
    assert [run["error"] for run in found.values()] == [0.5, 0.25]
    assert results.read("tables")["diabetes", 0.05, 0, "xrfm"]["score"] == 0.1
    assert set(json.loads(results.PATH.read_text())) == {"machine", *results.KEYS}


def test_models_are_compared_on_the_splits_that_all_have(kept):
    """On splits 1 and 2, halfmoon has 0.2 and xrfm 0.3; split 0 would turn it."""
    results.merge(
        "league",
        [
            *(league_run("wine", s, "xrfm", error=0.3) for s in (1, 2)),
            *(league_run("wine", s, "catboost", error=0.4) for s in (0, 1, 2)),
            league_run("iris", 0, "xrfm", error=0.1),
            league_run("iris", 0, "catboost", failed="ValueError: no"),
        ],
    )
    cells = {
        ("wine", 20): {"halfmoon": {0: 0.9, 1: 0.1, 2: 0.3}},
        ("iris", 20): {"halfmoon": {0: 0.15}},
        ("digits", 20): {"halfmoon": {0: 0.15}},
    }
    lines = report.comparison("league", cells, ["halfmoon"], scale=100, digits=1)
    assert lines[0] == "| table | labels | splits | halfmoon | catboost | xrfm |"
    assert lines[2] == "| wine | 20 | 2 | **20.0** | 40.0 | 30.0 |"
    assert lines[3] == "| iris | 20 | 1 | 15.0 | failed (1) | **10.0** |"
    assert lines[5].startswith("Mean ranks of 3 models in 2 of 3 cells, of 1 to 2 ")
    ranks = [[c.strip() for c in line.split("|")[1:-1]] for line in lines[7:]]
    assert [(r[0], r[2], r[3]) for r in ranks] == [
        ("halfmoon", "1.50", "1"),
        ("xrfm", "1.50", "1"),
        ("catboost", "3.00", "0"),
    ]
    about = report.rivals_table("league")
    assert "\nRuns that failed: 1 of 7." in about
    assert "- catboost, iris: ValueError: no" in about


def test_larger_scores_are_better_in_the_tables(kept):
    at = {"table": "diabetes", "share": 0.05, "seed": 0, "model": "xrfm"}
    results.merge("tables", [at | {"score": 0.4, "seconds": 1.0, "version": "1"}])
    cells = {("diabetes", 0.05): {"halfmoon": {0: 0.3}, "forest": {0: 0.5}}}
    lines = report.comparison("tables", cells, ["halfmoon", "forest"])
    assert lines[2] == "| diabetes | 0.05 | 1 | 0.300 | **0.500** | 0.400 |"
    assert [line.split(" | ")[0] for line in lines[6:]] == [
        *("| forest", "| xrfm", "| halfmoon")
    ]


def test_without_rivals_the_page_says_so(kept):
    cells = {("wine", 20): {"halfmoon": {0: 0.3}}}
    assert report.comparison("league", cells, ["halfmoon"]) == ["No rival has run yet."]


def test_a_time_limit_on_a_busy_machine_is_no_result(kept):
    """49 of 100 seconds of a processor are too few, 50 are enough; others may wait."""
    results.merge(
        "league",
        [
            league_run("wine", 0, "autogluon", error=0.6, wall=100.0, seconds=49.0),
            league_run("wine", 1, "autogluon", error=0.2, wall=100.0, seconds=50.0),
            *(league_run("wine", s, "xrfm", error=0.3, wall=9.0) for s in (0, 1)),
        ],
    )
    cells = {("wine", 20): {"halfmoon": {0: 0.9, 1: 0.1}}}
    lines = report.comparison("league", cells, ["halfmoon"])
    assert lines[2] == "| wine | 20 | 1 | **0.100** | 0.200 | 0.300 |"
    assert "\nRuns left out because the machine was busy: 1." in report.rivals_table(
        "league"
    )


def fresh_run(table, seed, model, error, **found):
    at = {"table": table, "labels": 20, "seed": seed, "model": model, "error": error}
    return at | {"wall": 40.0, "seconds": 30.0, "version": "1"} | found


def test_fresh_tables_are_compared_by_ratios_of_errors(kept):
    """Ratios of 1/2 and 2 in one table and 1/4 in another: 1/2 over tables."""
    ours = (("houses", 0, 0.099), ("houses", 1, 0.199), ("rice", 0, 0.049))
    theirs = (("houses", 0, 0.199), ("houses", 1, 0.099), ("rice", 0, 0.199))
    results.merge(
        "fresh",
        [
            *(fresh_run(table, seed, "halfmoon", e) for table, seed, e in ours),
            *(fresh_run(table, seed, "forest", e) for table, seed, e in theirs),
            fresh_run("rice", 0, "autogluon", 0.01, seconds=19.0),  # a busy machine
        ],
    )
    lines = list(fresh_report.page(results.read("fresh").values()))
    assert "| forest | numbers | 20 | 2 | 0.500 ± 0.693 | 2 | 0 | 1 |" in lines
    assert "| table | labels | draws | halfmoon | forest |" in lines
    assert "| houses | 20 | 2 | **0.149** | **0.149** |" in lines
    assert "| rice | 20 | 1 | **0.049** | 0.199 |" in lines

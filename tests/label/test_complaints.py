"""What people complain of in other labeling pages, and where it is tested here.

===============================  ====================================================
complaint                        test
===============================  ====================================================
keys stop working after a click  `test_page.test_enter_accepts_the_proposal_after...`
keys collide, or are not shown   `test_page.test_every_key_does_what_its_button_says`
keys of other keyboards          `test_page.test_keys_of_other_keyboards`
no undo                          `test_page.test_by_keyboard_through_thirty_rows`
a double press labels two rows   `test_page.test_double_presses_count_once`
work is lost                     `test_page.test_a_row_stays_until_its_answer...`
work is lost in a crash          `test_kills`
a table shows two columns        `test_page.test_two_hundred_columns`
no reason for a proposal         `test_page.test_labeled_rows_are_compared_with...`
answers only the tool can read   `test_journal.test_a_head_then_one_line_per_answer`
===============================  ====================================================

The others are here: nothing is learned while people label, near-copies are asked for
again and again, and a page is heavy to install.
"""

import tomllib
from importlib.resources import files
from pathlib import Path

import numpy as np

from small_tables import two_groups

ROOT = Path(__file__).parents[2]


def test_the_page_learns_while_people_label(session):
    rows, truth = two_groups(n=60, labels=0)
    labeling = session(rows)
    labeling.refit()
    assert not labeling.questions.refit.has_model
    learned = []
    for _ in range(4):
        for question in labeling.next_questions("ann", 5):
            row = question["row"]
            said = {"id": f"i{row}", "row": row, "value": str(truth[row])}
            labeling.answer(said | {"who": "ann", "seconds": 1.0})
        assert labeling.wants_refit
        labeling.refit()
        learned.append(labeling.questions.refit.labels)
    assert learned == [5, 10, 15, 20]
    asked = labeling.next_questions("ann", 10)
    proposed = {x["row"]: x["proposal"]["value"] for x in asked if x["proposal"]}
    assert len(proposed) == 8
    assert proposed == {row: truth[row] for row in proposed}


def test_near_copies_are_not_asked_for_again(session):
    """Uncertainty alone would ask for all copies of the least sure row."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(30, 2))
    side = np.where(x.sum(axis=1) > 0, "up", "down")
    rows = [["x", "z", "side"]]
    rows += [[*x[i], str(side[i])] for i in range(12)]
    for _ in range(10):
        rows += [[*(x[i] + 1e-4 * rng.normal(size=2)), ""] for i in range(12, 30)]
    labeling = session(rows)
    labeling.refit()
    first = labeling.questions.refit.chosen[:10]
    assert len({(row - 12) % 18 for row in first}) == 10


def test_the_page_is_light():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = project["optional-dependencies"]["label"]
    names = {each.split(">")[0].split("[")[0] for each in asked}
    assert names == {"halfmoon", "starlette", "uvicorn"}
    parts = list((files("halfmoon._label") / "page").iterdir())
    assert sum(len(part.read_bytes()) for part in parts) < 60_000

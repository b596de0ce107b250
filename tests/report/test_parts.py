"""The boxes, tables and lines of the report."""

import base64
import re
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from numpy.testing import assert_allclose
from sklearn.metrics import balanced_accuracy_score, recall_score

from halfmoon._notes import Note
from halfmoon._report import svg_drawing
from halfmoon._report.bar_charts import of_columns
from halfmoon._report.findings import LooClasses, Reason, ReportColumn, ShownRow
from halfmoon._report.next_steps import next_steps
from halfmoon._report.quality_by_part import quality_in_parts
from halfmoon._report.quality_charts import of_quality
from halfmoon._report.quality_scores import balanced_accuracy, per_class
from halfmoon._report.report_page import reason_groups
from halfmoon._report.safe_text import rounded
from halfmoon._report.svg_drawing import DARK, PALETTE, PAPER, draw, with_dark
from halfmoon._report.unlabeled_gain import families, plain_name
from report.examples import all_parts, diabetes, iris
from report.made_up import hundred_classes, made_up, two_labels

LAPLACE = "Curve that may bend sharply (Laplace kernel)"


def test_per_class_counts_agree_with_scikit_learn(rng):
    given, predicted = rng.choice(list("abcd"), (2, 80), p=[0.4, 0.3, 0.2, 0.1])
    found = per_class(given.tolist(), predicted.tolist())
    names = [each.name for each in found]
    recall = recall_score(given, predicted, labels=names, average=None)
    assert_allclose([each.found / each.labels for each in found], recall)
    for each in found:
        assert each.labels == (given == each.name).sum()
        alarms = (predicted == each.name) & (given != each.name)
        assert each.false_alarms == alarms.sum()
    assert_allclose(balanced_accuracy(found), balanced_accuracy_score(given, predicted))


def rare_class():
    """One of fifty labels is rare and found, and one alarm is false."""
    base = made_up(["ok", "fraud"], n=100, labeled=50)
    given = ("ok",) * 48 + ("fraud",) * 2
    predicted = ("ok",) * 47 + ("fraud",) + ("fraud", "ok")
    return replace(base, loo=replace(base.loo, given=given, predicted=predicted))


def test_a_rare_class_has_its_own_line():
    parts = quality_in_parts(rare_class())
    fraud, ok = parts.classes
    assert (fraud.name, fraud.labels, fraud.found, fraud.false_alarms) == (
        *("fraud", 2, 1, 1),
    )
    assert fraud.share == 0.5
    assert ok.share == 47 / 48
    assert fraud.filled == rare_class().filled.predicted["fraud"]
    # (1 / 2 + 47 / 48) / 2
    text = parts.balanced.replace("\u00a0", " ")
    assert "74 % of each class was recovered" in text
    assert text.endswith("most common class would recover 50 %.")


def test_classes_have_their_mean_confidence():
    filled = iris().filled
    lines = quality_in_parts(iris()).classes
    assert [line.confidence for line in lines] == [*filled.confidence_of.values()]
    total = sum(line.confidence * line.filled for line in lines)
    assert_allclose(total / iris().predicted, filled.mean_confidence)


def test_the_only_label_of_a_class_is_not_tested():
    base = made_up(["a", "b", "c"], n=20, labeled=5)
    nothing = np.full(5, 0.5)
    loo = LooClasses(tuple("aabbc"), tuple("abbba"), nothing, nothing)
    findings = replace(base, loo=loo)
    assert loo.tested().given == tuple("aabb")
    parts = quality_in_parts(findings)
    assert parts.untested
    assert [line.share for line in parts.classes[:2]] == [0.5, 1.0]
    assert np.isnan(parts.classes[2].share)
    # The label c is predicted as a because hiding it hides its class: no false alarm.
    assert [line.false_alarms for line in parts.classes] == [0, 1, 0]
    assert [(each.given, each.predicted) for each in parts.mix_ups] == [("a", "b")]
    matrix = of_quality(findings)[0]
    assert matrix.alt == "Confusion matrix of 4 labels: 1 wrong."
    alone = LooClasses(tuple("ab"), tuple("ba"), nothing[:2], nothing[:2])
    assert of_quality(replace(base, loo=alone)) == []


def test_balanced_accuracy_is_for_a_very_common_class():
    assert quality_in_parts(made_up(["a", "b", "c"])).balanced == ""
    parts = quality_in_parts(diabetes())
    assert (parts.classes, len(parts.thirds)) == ([], 3)


def test_the_worst_of_many_classes_come_first():
    parts = quality_in_parts(hundred_classes())
    assert parts.worst_first
    shares = [line.share for line in parts.classes if line.labels > 1]
    assert shares == sorted(shares)
    assert shares[0] < 1
    assert sum(each.times for each in parts.mix_ups) == 4


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.12345678901234567", "0.123457"),
        ("123.45678901", "123.457"),
        ("-1234567.891", "-1234568"),
        ("3,14159265", "3,14159"),
        ("1.23456789e-05", "1.23457e-05"),
        ("0.00000000123456789", "0.00000000123457"),
        ("999999.96", "1000000"),
        ("12345678901234567890", "12345678901234567890"),
        ("1.50", "1.50"),
        ("1,234,567.891", "1,234,567.891"),
        ("v1.23456789", "v1.23456789"),
        ("", ""),
    ],
)
def test_long_decimals_are_rounded_and_codes_are_not(text, expected):
    assert rounded(text) == expected


def test_steps_come_from_the_findings():
    findings = all_parts()
    steps = next_steps(findings)
    next_rows, wrong = (
        [str(row.number) for row in some]
        for some in (findings.next_rows, findings.suspects)
    )
    assert len(next_rows) == 12
    rows = f"rows {', '.join(next_rows[:8])} and 4 more"
    assert [step.text for step in steps] == [
        "Read the note above first. If you change anything, run again.",
        "Predictions are better without 'created'. Leave it out:",
        f"Check the labels that look wrong: rows {', '.join(wrong)}.",
        f"Label a few more rows, starting with {rows}. To get them as a file:",
        "Label more rows of the class with few labels: setosa (4 labels).",
    ]
    run = "halfmoon fill flowers.csv --target species --seed 0"
    assert steps[1].command == f"{run} --exclude created"
    assert steps[3].command == f"{run} --to-label 20 todo.csv --overwrite"
    assert [step.command for step in steps][::2] == ["", "", ""]


def test_there_are_one_to_five_steps():
    many = tuple(Note(f"{i}", f"Do {i}.", f"run {i}") for i in range(9))
    assert len(next_steps(replace(all_parts(), notes=many))) == 5
    base = made_up(["a", "b"], n=60, labeled=60)
    (step,) = next_steps(replace(base, next_rows=(), suspects=()))
    assert step.text.startswith("Nothing stands out.")
    for command in (
        "halfmoon fill t.csv --target y --to-label 9 x.csv",
        "halfmoon fill t.csv --target y z",
        "halfmoon fill t.csv --target y --target z",
        "halfmoon.fill(df, 'y')",
        "halfmoon fill t.csv --target 'y",
    ):
        again = replace(base, command=command)
        assert all(step.command == "" for step in next_steps(again))


def test_classes_with_few_labels_are_named_the_rarest_first():
    filled = two_labels().filled
    given = {"a": 4, "b": 5, "c": 1, "d": 2, "e": 3, "f": 4, "g": 0}
    findings = replace(two_labels(), filled=replace(filled, given=given), notes=())
    assert next_steps(findings)[-1].text == (
        "Label more rows of the classes with few labels: c (1 label), d (2 labels), "
        "e (3 labels), a (4 labels) and 1 other class."
    )


def test_reasons_are_grouped_by_label():
    row = ShownRow(
        *(9, (), "a"),
        speaks_for=tuple(Reason(i, "ab"[i == 2], 0.5) for i in range(1, 9)),
        speaks_against=(),
    )
    ((side, groups),) = reason_groups(row)
    assert side == "For"
    assert groups == [("rows 1, 3", "a"), ("row 2", "b")]
    assert reason_groups(replace(row, speaks_for=())) == []


@pytest.mark.parametrize(
    ("name", "method", "columns"),
    [
        (
            "standardized, gaussian 2.5",
            "Smooth curve (Gaussian kernel)",
            "on one scale",
        ),
        ("normal scores, linear", "Straight line (linear)", "by rank"),
        (
            "50 components, walk k=5 restart=0.03 + 0.2 gaussian",
            "Average of the neighbors over all rows (diffusion) plus a smooth curve",
            "their 50 main directions",
        ),
        (
            "normal scores, additive",
            "Sum of one curve for each column (additive kernel)",
            "by rank",
        ),
        (
            "standardized, additive + gaussian 1",
            "Sum of one curve for each column (additive kernel) plus a smooth curve",
            "on one scale",
        ),
        (
            "standardized, additive + laplace 2, log of y",
            (
                "Sum of one curve for each column (additive kernel) plus a curve that "
                "may bend sharply, for the logarithm of the target"
            ),
            "on one scale",
        ),
        (
            "50 components, walk k=5 restart=0.03",
            "Average of the neighbors over all rows (diffusion)",
            "their 50 main directions",
        ),
        (
            "standardized by gradient, three steps, laplace 0.5 + linear, log of y",
            f"{LAPLACE} plus a straight line, for the logarithm of the target",
            "on one scale, weighted by the labels",
        ),
        (
            "normal scores, averaged",
            "Smooth curve over neighborhoods of rows (Fredholm kernel)",
            "by rank",
        ),
        (
            "as they are, energy mu=0.1",
            "Smooth curve, steady where rows are dense (Laplacian penalty)",
            "as they are",
        ),
        (
            "standardized, composed averaged + energy",
            (
                "Smooth curve over neighborhoods, steady where rows are dense "
                "(Fredholm kernel)"
            ),
            "on one scale",
        ),
        (
            "normal scores, energy 1.5, no constant",
            (
                "Smooth curve, steady where rows are dense (Laplacian penalty), "
                "without a constant"
            ),
            "by rank",
        ),
    ],
)
def test_models_have_plain_names(name, method, columns):
    assert plain_name(name) == (method, columns)


def test_weights_of_a_family_add_up():
    names = ["standardized, gaussian 1", "standardized, gaussian 2", "as they are, x"]
    weights = (0.25, 0.5, 0.125)
    found = families({"candidate": names, "unlabeled": [False] * 3, "weight": weights})
    assert [(row.weight, row.models) for row in found] == [(0.75, 2), (0.125, 1)]
    found = families(
        {
            "candidate": [f"as they are, {i}" for i in range(12)],
            "unlabeled": [i == 9 for i in range(12)],
            "weight": [1 / 16] * 12,
        }
    )
    assert len(found) == 8
    assert_allclose(found[-1].weight, 5 / 16)
    assert (found[-1].name, found[-1].models) == ("Other models", 5)
    assert found[-1].unlabeled is None  # one of the five uses them
    assert_allclose(sum(row.weight for row in found), 12 / 16)


def test_importance_is_never_minus_zero():
    column = ReportColumn("x", "number", 0.0, "feature", importance=-0.0001)
    (picture,) = of_columns(replace(made_up(["a", "b"]), columns=(column,)))
    assert picture.alt.endswith(": x 0.0.")


def test_bars_that_could_be_chance_are_gray():
    sure = ReportColumn("x", "number", 0.0, "feature", "", "", 0.3, 0.1)
    unsure = replace(sure, name="z", importance_error=0.2)
    assert (sure.clearly_matters, unsure.clearly_matters) == (True, False)
    assert not replace(sure, importance=-0.3).clearly_matters
    found = replace(made_up(["a", "b"]), columns=(sure, unsure))
    (picture,) = of_columns(found)
    assert "A gray bar could be chance" in picture.caption
    (all_gray,) = of_columns(replace(found, columns=(unsure,)))
    for each, blue in ((picture, True), (all_gray, False)):
        svg = base64.b64decode(each.uri.partition(",")[2]).decode()
        assert (PALETTE[0] in svg) == blue


def test_pictures_are_drawn_once_and_look_as_saved_by_matplotlib(monkeypatch):
    def paint(first, second):
        first.plot([1.0, 2.0], [3.0, 1.0], label="a")
        second.barh(["a long name", "b"], [0.3, 0.7])
        second.set_xlabel("share")

    drawn = []

    def counted(figure, renderer):
        drawn.append(figure)
        return whole(figure, renderer)

    whole = Figure.draw
    monkeypatch.setattr(Figure, "draw", counted)
    options = {"height": 2.0, "alt": "", "parts": (2.0, 1.0)}
    actual = draw(paint, **options)
    assert len(drawn) == 1

    def saved_by_figure(figure):
        FigureCanvasSVG(figure)
        save = partial(figure.savefig, format="svg")
        return SimpleNamespace(print_svg=save)

    monkeypatch.setattr(svg_drawing, "FigureCanvasSVG", saved_by_figure)
    assert draw(paint, **options) == actual
    assert len(drawn) == 3


def luminance(color):
    c = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    c = np.where(c <= 0.03928, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    return float(c @ [0.2126, 0.7152, 0.0722])


def test_colors_have_dark_counterparts():
    svg = f'<svg a="b"><path style="fill: {PAPER}; stroke: #123456"/></svg>'
    found = with_dark(svg)
    assert found.startswith('<svg a="b"><style>svg{--c0:#ffffff}')
    assert "dark){svg{--c0:#1c2027}}</style>" in found
    assert found.endswith('<path style="fill: var(--c0); stroke: #123456"/></svg>')
    background = luminance(DARK[PAPER])
    assert background < 0.02
    for light, dark in DARK.items():
        assert re.fullmatch("#[0-9a-f]{6}", light)
        assert luminance(dark) <= 0.85  # nothing glares

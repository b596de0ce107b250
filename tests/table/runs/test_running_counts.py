"""Counts over predicted rows."""

import numpy as np
import pyarrow as pa
import pytest

from halfmoon._report.findings import confidence_edges, number_edges
from halfmoon.table._models.predictions import Prediction
from halfmoon.table._runs.running_counts import RunningCounts


def classes(rng, n):
    names = np.array(["a", "b", "c"])
    return Prediction(
        values=names[rng.integers(0, 3, n)].tolist(),
        confidence=rng.uniform(0.3, 1, n),
        second=names[rng.integers(0, 3, n)].tolist(),
    )


def part(prediction, rows):
    return Prediction(
        **{
            name: None if values is None else values[rows]
            for name, values in vars(prediction).items()
        }
    )


@pytest.mark.parametrize("cut", [1, 7, 60, 100])
def test_batches_of_classes_add_up(rng, cut):
    n, prediction = 60, classes(rng, 60)
    rows = pa.record_batch({"x": pa.array(np.arange(n)), "t": ["<b>"] * n})
    tally = RunningCounts(confidence_edges())
    for start in range(0, n, cut):
        some = slice(start, min(n, start + cut))
        numbers = 1000 + np.arange(n)[some]
        tally.add(part(prediction, some), rows.slice(start, cut), numbers)
    assert tally.n == n
    values = prediction.values
    assert dict(tally.classes) == {name: values.count(name) for name in set(values)}
    assert tally.mean == pytest.approx(prediction.confidence.mean(), rel=1e-12)
    for name, mean in tally.mean_of_classes().items():
        own = prediction.confidence[np.array(values) == name]
        assert mean == pytest.approx(own.mean(), rel=1e-12)
    counts, _ = np.histogram(prediction.confidence, confidence_edges())
    np.testing.assert_array_equal(tally.histogram.counts, counts)
    order = np.argsort(prediction.confidence)
    unsure = [tally.unsure.row(i) for i in range(n)]
    assert [row.number for row in unsure] == (1000 + order).tolist()
    first = unsure[0]
    assert first.cells == {"x": str(order[0]), "t": "<b>"}
    assert first.prediction == prediction.at(order[0])
    assert first.prediction.value == values[order[0]]
    assert first.prediction.second == prediction.second[order[0]]
    assert first.prediction.confidence == prediction.confidence[order[0]]


def test_numbers_are_unsure_by_the_width_of_their_intervals(rng):
    values, width = rng.normal(size=50), rng.uniform(1, 2, 50)
    prediction = Prediction(values.tolist(), low=values - width, high=values + width)
    rows = pa.record_batch({"x": pa.array([None, *range(49)])})
    edges = number_edges(values)
    tally = RunningCounts(edges)
    tally.add(prediction, rows, np.arange(50))
    assert tally.mean == pytest.approx(2 * width.mean(), rel=1e-12)
    unsure = [tally.unsure.row(i) for i in range(50)]
    assert [row.number for row in unsure] == np.argsort(-width).tolist()
    assert tally.histogram.counts.sum() == 50
    row = next(row for row in unsure if row.number == 0)
    assert row.cells == {"x": ""}
    ends = (values[0] - width[0], values[0] + width[0])
    assert (row.prediction.low, row.prediction.high) == ends


def test_no_rows_have_no_mean():
    assert np.isnan(RunningCounts(confidence_edges()).mean)

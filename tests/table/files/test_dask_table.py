"""Dask data frames: the cells of pandas, whatever the partitions are."""

from itertools import pairwise

import numpy as np
import pytest

dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")

import halfmoon  # noqa: E402
from halfmoon.table import TableError  # noqa: E402
from halfmoon.table._files.dask_table import DaskTable  # noqa: E402


@pytest.fixture(scope="module")
def flowers():
    rng = np.random.default_rng(0)
    species = np.repeat(["a", "b", "c"], 40)
    frame = pd.DataFrame(
        {
            "width": rng.normal(np.repeat([0, 4, 8], 40)),
            "color": np.where(rng.uniform(size=120) < 0.1, None, species),
            "weight": np.repeat([1.0, 2.0, 3.0], 40) + rng.normal(0, 0.1, 120),
            "species": np.where(np.arange(120) % 5 == 0, species, None),
        }
    )
    frame.loc[frame.index % 4 > 0, "weight"] = np.nan
    return frame.sample(frac=1, random_state=0)


@pytest.fixture(scope="module")
def whole(flowers):
    """What pandas gives."""
    return halfmoon.fill(flowers, "species", budget=1e-9, seed=1)


def in_parts(frame, sizes):
    ends = np.cumsum([0, *sizes])
    parts = [frame.iloc[a:b] for a, b in pairwise(ends)]
    return dd.from_map(lambda part: part, parts, meta=frame.head(0))


@pytest.mark.parametrize(
    "sizes",
    [
        (50, 1, 0, 69),
        *(
            pytest.param(each, marks=pytest.mark.slow)
            for each in [(120,), (7,) * 17 + (1,)]
        ),
    ],
)
def test_cells_are_those_of_pandas(flowers, whole, sizes):
    lazy = halfmoon.fill(in_parts(flowers, sizes), "species", budget=1e-9, seed=1)
    assert isinstance(lazy.table, dd.DataFrame)
    assert lazy.table.npartitions == len([*sizes])
    found = lazy.table.compute()
    pd.testing.assert_frame_equal(found, whole.table, check_dtype=False)
    assert lazy.record["summary"] == whole.record["summary"]
    pd.testing.assert_frame_equal(lazy.next_rows, whole.next_rows, check_dtype=False)
    pd.testing.assert_frame_equal(lazy.suspects, whole.suspects, check_dtype=False)


@pytest.mark.slow
def test_numbers_and_several_targets(flowers):
    lazy = halfmoon.fill(
        in_parts(flowers, (70, 50)), ["species", "weight"], budget=1e-9, seed=1
    )
    whole = halfmoon.fill(flowers, ["species", "weight"], budget=1e-9, seed=1)
    found = lazy["weight"].table.compute()
    pd.testing.assert_frame_equal(found, whole["weight"].table, check_dtype=False)
    assert found["weight"].notna().all()
    assert (found.dtypes == lazy["weight"].table.dtypes).all()


def test_the_frame_is_computed_three_times(flowers):
    computed = []

    def counted(part):
        computed.append(len(part))
        return part

    frame = in_parts(flowers, (60, 60)).map_partitions(counted, meta=flowers.head(0))
    computed.clear()
    halfmoon.fill(frame, "species", budget=1e-9)
    rows = [n for n in computed if n]
    assert rows.count(60) <= 2 * 3 + 1  # and one more partition for the types


def test_rows_by_position(flowers):
    table = DaskTable(in_parts(flowers, (50, 0, 70)))
    positions = [119, 0, 50, 49]
    pd.testing.assert_frame_equal(
        table.rows_at(positions), flowers.iloc[positions], check_dtype=False
    )
    assert len(table.rows_at([])) == 0
    assert table.part_rows == [50, 0, 70]


def test_types_that_differ_are_refused(flowers):
    odd = flowers.iloc[60:].assign(width="wide")
    parts = [flowers.iloc[:60], odd]
    frame = dd.from_map(lambda part: part, parts, meta=flowers.head(0))
    with pytest.raises(TableError, match="Partition 1 of the data frame does not have"):
        halfmoon.fill(frame, "species", budget=1e-9)


def test_other_objects_are_refused():
    with pytest.raises(TableError, match="data frame of pandas, polars or Dask"):
        halfmoon.fill([1, 2], "species")

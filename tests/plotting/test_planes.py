import numpy as np
import pytest
import scipy.sparse as sp

from halfmoon.plotting._planes import as_numbers_table, column_numbers, table_like


def test_a_table_that_is_not_numbers_is_refused_with_advice():
    with pytest.raises(ValueError, match=r"Pass X.toarray\(\)"):
        as_numbers_table(sp.csr_array(np.eye(3)))
    with pytest.raises(ValueError, match="could not convert string"):
        as_numbers_table([["red", "1"], ["blue", "2"]])
    with pytest.raises(ValueError, match=r"shape \(3,\)"):
        as_numbers_table([1.0, 2.0, 3.0])


def test_columns_by_number_from_the_end_or_by_name():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"a": [1.0], "b": [2.0], "c": [3.0]})
    assert column_numbers(frame, ("c", 0), 3) == [2, 0]
    assert column_numbers(np.ones((1, 3)), (-1, 1), 3) == [2, 1]
    with pytest.raises(ValueError, match=r"columns is \('z', 'a'\)"):
        column_numbers(frame, ("z", "a"), 3)
    same = table_like(frame, np.array([[4.0, 5.0, 6.0]]))
    assert same.columns == ["a", "b", "c"]
    assert same.row(0) == (4.0, 5.0, 6.0)

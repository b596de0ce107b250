"""Write predictions as cells of a table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt
from numpy.typing import NDArray

from halfmoon._report.findings import confidence_edges, number_edges
from halfmoon.table._cells.number_style import PLAIN, NumberStyle
from halfmoon.table._columns.column_names import GIVEN, PREDICTED
from halfmoon.table._files.arrow_types import is_text, plain_array
from halfmoon.table._labels.target_labels import Kind
from halfmoon.table._models.predictions import Prediction, RowPrediction
from halfmoon.table._models.table_model import TableModel

__all__ = ["Cells", "column_types"]

CONFIDENCE_DIGITS = 4
EXACT_DIGITS = 12
SMALLEST = 0.1  # share of positive labels that may get less than three digits
MIN_WHOLE_SPREAD = 2.0  # of whole labels; rounding then costs at most 0.02 of R²


def column_types(model: TableModel, schema: Any) -> dict[str, Any]:
    """Return the types of new columns, and of a column of predicted numbers.

    `schema` is that of the table that is filled.
    """
    source, *others = model.added
    types = {source: pa.string(), **dict.fromkeys(others, pa.float64())}
    if model.kind == "classes":
        return types | dict.fromkeys(others[1:], pa.string())
    place = schema.get_field_index(model.target)
    kind = pa.float64() if place < 0 else schema.field(place).type
    return types | {model.target: _number_type(kind, model.style_)}


def _number_type(kind: Any, style: NumberStyle | None) -> Any:
    """Return the type of a column with predictions: its own, if it can hold them."""
    if pt.is_dictionary(kind):
        return _number_type(kind.value_type, style)
    if pt.is_run_end_encoded(kind) or isinstance(kind, pa.BaseExtensionType):
        plain = plain_array(pa.nulls(0, kind)).type
        return kind if _number_type(plain, style) == plain else pa.float64()
    if is_text(kind):
        plain = style is None or not (style.describe() or style.negative != "-x")
        return pa.float64() if plain else kind
    return kind if pt.is_primitive(kind) or pt.is_decimal(kind) else pa.float64()


@dataclass(frozen=True)
class Cells:
    """How the predictions of a model are written as columns."""

    kind: Kind
    added: tuple[str, ...]  # names of the columns next to the target
    edges: NDArray[np.float64]  # of the histogram of confidences, or of numbers
    digits: int  # decimals of predicted numbers
    style: NumberStyle = PLAIN  # how numbers are written
    type: Any = None  # of the column of numbers: None for text, null for classes

    @classmethod
    def of(cls, model: TableModel, schema: Any = None) -> Cells:
        """Return how predictions are written; `schema` is None for a text file."""
        added, decimal = model.added, _decimal(model)
        types = {} if schema is None else column_types(model, schema)
        if model.kind == "classes":
            edges, style = confidence_edges(), NumberStyle(decimal)
            type_ = None if schema is None else pa.null()
            return cls("classes", added, edges, CONFIDENCE_DIGITS, style, type_)
        given = model.example_numbers()
        style, type_ = model.style_ or NumberStyle(decimal), types.get(model.target)
        if type_ is not None:
            type_ = plain_array(pa.nulls(0, type_)).type
        if not style.digits and style.thousands != decimal:
            style = replace(style, decimal=decimal)
        spread, whole = float(given.std()), (given == np.round(given)).all()
        digits = decimals(spread)
        if model.style_ is not None or whole:
            digits = shown_decimals(digits, style.digits)
        if not whole:
            needed, exact = small_decimals(given), model.style_ is None
            most = needed if exact or style.exponent else style.digits
            digits = max(digits, min(needed, most))
        if whole and spread >= MIN_WHOLE_SPREAD:
            digits = 0
        if getattr(model, "ends", ()):  # a number at an end must stay within it
            digits = max(digits, style.digits if model.style_ else EXACT_DIGITS)
            style = replace(style, letters=())
        if type_ is not None and pt.is_integer(type_):
            digits = 0
        return cls("numbers", added, number_edges(given), digits, style, type_)

    def columns(
        self, prediction: Prediction, blank: NDArray[np.bool_]
    ) -> list[list[Any] | pa.Array]:
        """Return the target and each added column over all rows; None for no cell."""
        values: Any = prediction.values
        numbers: list[Any] = [prediction.confidence]
        if prediction.confidence is None:
            values = self._typed(values)
            numbers = self._ends(prediction)
        elif set(map(type, values)) == {str}:
            values = pa.array(values, pa.string())
        return [
            _spread(values, blank),
            pc.if_else(pa.array(blank), PREDICTED, GIVEN),
            *(_spread(self._added(column), blank) for column in numbers),
        ]

    def _ends(self, prediction: Any) -> list[Any]:
        """Return low and high; whole ones outwards, so that they hold as much."""
        low, high = prediction.low, prediction.high
        if self.digits > 0 or low is None:
            return [low, high]
        return [np.floor(low), np.ceil(high)]

    def shown_ends(self, prediction: RowPrediction) -> tuple[str, str]:
        """Return the ends of the interval of a number for a person to read."""
        low, high = self._ends(prediction)
        return self.shown(low), self.shown(high)

    def shown(self, value: Any) -> str:
        """Return a label for a person to read."""
        if value is None or value != value:  # NaN
            return ""
        if self.kind == "classes":
            return str(value)
        return str(self._written([value])[0])

    def _typed(self, values: Any) -> list[Any] | pa.Array:
        """Return numbers as values of the target's type."""
        if self.type is None or is_text(self.type):
            return self._written(values)
        if pt.is_integer(self.type):
            limits = np.iinfo(self.type.to_pandas_dtype())
            low, high = int(limits.min), int(limits.max)
            return [round(min(max(value, low), high)) for value in values]
        if pt.is_boolean(self.type):
            return [value >= 0.5 for value in values]
        if pt.is_decimal(self.type):
            scale, most = self.type.scale, 10**self.type.precision - 1
            units = (round(value * 10.0**scale) for value in values)
            return [Decimal(min(max(n, -most), most)).scaleb(-scale) for n in units]
        return self._rounded(values)

    def _added(self, values: Any) -> list[Any] | pa.Array:
        """Return numbers as values of a new column, None for NaN."""
        if self.type is None and self.kind == "numbers":
            return self._written(values)
        rounded = self._rounded(values)
        if self.type is not None or self.style.decimal == ".":
            return rounded
        return [
            None if x != x else str(x).replace(".", self.style.decimal)
            for x in rounded.to_pylist()
        ]

    def _written(self, values: Any) -> pa.Array:
        numbers, style = np.asarray(values, float).tolist(), self.style
        return pa.array(
            style.abbreviate(numbers)
            if style.letters
            else style.write(numbers, self.digits),
            pa.string(),
        )

    def _rounded(self, values: Any) -> pa.Array:
        return pa.array(np.round(np.asarray(values, float), self.digits))


def _decimal(model: TableModel) -> str:
    """Return the decimal separator of most columns of the table."""
    used = [use.style for use in model.columns_.uses if use.style and use.style.digits]
    if model.style_ is not None and model.style_.digits:
        used = [model.style_]
    commas = sum(style.decimal == "," for style in used)
    return "," if commas > len(used) / 2 else "."


def _spread(
    values: list[Any] | pa.Array, where: NDArray[np.bool_]
) -> list[Any] | pa.Array:
    """Return values at their places among all rows, None elsewhere."""
    if isinstance(values, pa.Array):
        if where.all():
            return values
        places = np.cumsum(where) - 1
        return values.take(pa.array(places, mask=~where))
    column = np.full(len(where), None, dtype=object)
    column[where] = values
    return list(column)


def shown_decimals(most: int, given: int) -> int:
    """Return the number of decimals of predictions.

    It is that of the labels (`given`), but predictions show at least a tenth of the
    labels' spread and, beyond two decimals, at most a thousandth. `most` is that of
    `decimals`.

    Examples
    --------
    >>> shown_decimals(decimals(50.0), 2), shown_decimals(decimals(5e4), 2)
    (2, 2)
    >>> shown_decimals(decimals(800.0), 0), shown_decimals(decimals(2.0), 0)
    (0, 1)
    """
    return min(max(given, most - 2), max(most, min(given, 2)))


def small_decimals(numbers: NDArray[np.float64]) -> int:
    """Return the number of decimals that show small numbers; 0 if some are negative.

    Amounts from 0.00005 to 1 need more decimals than their spread says: all but the
    smallest tenth get three digits.

    Examples
    --------
    >>> small_decimals(np.array([5e-5, 5e-5, 0.002, 0.3])), small_decimals(np.ones(3))
    (7, 2)
    """
    sizes = numbers[numbers > 0]
    if not len(sizes) or numbers.min() < 0:
        return 0
    small = max(float(np.quantile(sizes, SMALLEST)), 1e-300)
    return max(2 - int(np.floor(np.log10(small))), 0)


def decimals(spread: float) -> int:
    """Return the number of decimals that show a thousandth of the labels' spread.

    Examples
    --------
    >>> decimals(2.5), decimals(120000.0), decimals(0.003)
    (3, 0, 6)
    """
    if not np.isfinite(spread) or spread <= 0:
        return 6
    return int(np.clip(3 - np.floor(np.log10(spread)), 0, 300))

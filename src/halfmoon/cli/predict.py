"""``halfmoon predict``: new rows, by a model that was kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from halfmoon.cli.options import shared_options, table_options
from halfmoon.cli.outcome import ending_well
from halfmoon.cli.places import STREAM, filled_beside, named, stream_or_path

__all__ = ["predict"]


@click.command(no_args_is_help=True)
@click.argument("model", type=click.Path())
@click.argument("file", type=click.Path(allow_dash=True))
@table_options
@shared_options
def predict(model: str, file: str, **options: Any) -> None:
    """Predict the rows of the table FILE ('-' is standard input) with MODEL.

    MODEL is what halfmoon fill --model has kept. FILE needs the columns that the model
    learned from. If it has the target too, its blanks are filled in and what is given
    stays; if not, the target is added.

    \b
    Examples:
      halfmoon predict flowers.halfmoon new.csv
      halfmoon predict flowers.halfmoon new.parquet -o labeled.parquet
      halfmoon predict flowers.halfmoon - < new.csv > labeled.csv
    """
    debug, as_json = options.pop("debug"), options["as_json"]
    with ending_well(debug=debug, as_json=as_json):
        _predict(model, file, **options)


def _predict(
    model: str,
    file: str,
    *,
    output: str | None,
    overwrite: bool,
    format_: str | None,
    delimiter: str | None,
    encoding: str | None,
    formulas: str,
    quiet: bool,
    as_json: bool,
) -> None:
    from halfmoon.cli.kept import table_model
    from halfmoon.cli.stages import Bars
    from halfmoon.cli.summary import say
    from halfmoon.table.files import open_table
    from halfmoon.table.fill import predict_table
    from halfmoon.table.record import predicted_record

    if output is None:
        output = STREAM if file == STREAM else str(filled_beside(Path(file)))
    kept = table_model(model)
    with (
        Bars(quiet=quiet or as_json) as bars,
        open_table(
            stream_or_path(file),
            format=format_,
            delimiter=delimiter,
            encoding=encoding,
        ) as table,
    ):
        predicted = predict_table(
            table,
            stream_or_path(output, writing=True),
            kept,
            overwrite=overwrite,
            formulas=formulas,
            stages=bars,
        )
        bars.finish()
    say(
        predicted_record(predicted, named(file)),
        {} if output == STREAM else {"table": output},
        quiet=quiet,
        as_json=as_json,
        to_stderr=output == STREAM,
    )

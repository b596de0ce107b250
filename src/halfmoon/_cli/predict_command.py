"""``halfmoon predict``: predict new rows with a saved model."""

from __future__ import annotations

from typing import Any

import click

from halfmoon._cli.argument_types import Arguments
from halfmoon._cli.common_options import (
    folder_options,
    output_options,
    running,
    shared_options,
)
from halfmoon._cli.paths import display_name

__all__ = ["predict"]


@click.command(cls=Arguments, no_args_is_help=True)
@click.argument("model", type=click.Path())
@click.argument("file", type=click.Path(allow_dash=True))
@output_options
@folder_options
@shared_options
def predict(model: str, **options: Any) -> None:
    """Predict the rows of the table FILE ('-' is standard input) with MODEL.

    MODEL is a file that halfmoon fill --model wrote. FILE needs the columns that the
    model learned from. If FILE has the target column, its blanks are filled. Its labels
    stay, and halfmoon compares them with its predictions, which tests the model. If
    FILE has no target column, the output gets one. FILE may be a folder of tables, as
    for halfmoon fill; then the output is a folder too.

    \b
    Examples:
      Predict new rows:
        halfmoon predict flowers.halfmoon new.csv
        halfmoon predict flowers.halfmoon new.parquet -o labeled.parquet
      Test the model on rows whose label is known:
        halfmoon predict flowers.halfmoon labeled.csv -o compared.csv
      Read from and write to other programs:
        halfmoon predict flowers.halfmoon - < new.csv > labeled.csv
    """
    with running(options) as (common, _):
        from halfmoon._cli.load_model import blaming_model, load_table_model
        from halfmoon.table._fill_table import predict_table
        from halfmoon.table._folders import predict_folder
        from halfmoon.table._runs.run_summary import predicted_record

        common.refuse_folder_options()
        loaded = load_table_model(model)
        with (
            common.progress() as bars,
            blaming_model(model),
            common.engine() as engine,
        ):
            if common.is_folder:
                predicted = predict_folder(
                    model=loaded, stages=bars, engine=engine, **common.folder_run
                )
            else:
                with common.open_table() as table:
                    predicted = predict_table(
                        table, model=loaded, stages=bars, **common.writing
                    )
            bars.finish()
        record = predicted_record(predicted, display_name(common.file))
        common.print_runs([(record, {})])

"""``halfmoon predict``: new rows, by a model that was kept."""

from __future__ import annotations

from typing import Any

import click

from halfmoon.cli.arguments import Arguments
from halfmoon.cli.chosen import Chosen
from halfmoon.cli.options import folder_options, shared_options, table_options
from halfmoon.cli.outcome import ending_well
from halfmoon.cli.places import named

__all__ = ["predict"]


@click.command(cls=Arguments, no_args_is_help=True)
@click.argument("model", type=click.Path())
@click.argument("file", type=click.Path(allow_dash=True))
@table_options
@folder_options
@shared_options
def predict(model: str, resume: bool, dask: str | None, **options: Any) -> None:
    """Predict the rows of the table FILE ('-' is standard input) with MODEL.

    MODEL is a file that halfmoon fill --model wrote. FILE needs the columns that the
    model learned from. If it has the target too, its blanks are filled in, and the
    labels it has stay and are compared with the predictions: so a table with known
    labels tests the model. If it does not have the target, the target is added. FILE
    may be a folder of tables, as for halfmoon fill; the output is one too.

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
    chosen, _ = Chosen.of(options)
    with ending_well(debug=chosen.debug, as_json=chosen.as_json):
        from halfmoon.cli.kept import table_model, used
        from halfmoon.table.fill import predict_table
        from halfmoon.table.folders import predict_folder
        from halfmoon.table.record import predicted_record

        chosen.refuse_for_file(resume, dask)
        kept = table_model(model)
        with chosen.bars() as bars, used(model), chosen.engine(dask) as engine:
            if chosen.is_folder:
                predicted = predict_folder(
                    chosen.file,
                    chosen.place,
                    kept,
                    overwrite=chosen.overwrite,
                    resume=resume,
                    formulas=chosen.formulas,
                    stages=bars,
                    engine=engine,
                    **chosen.reading,
                )
            else:
                with chosen.table() as table:
                    predicted = predict_table(
                        table, model=kept, stages=bars, **chosen.writing
                    )
            bars.finish()
        chosen.say([(predicted_record(predicted, named(chosen.file)), {})])

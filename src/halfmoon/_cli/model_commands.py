"""``halfmoon predict`` and ``halfmoon inspect``: commands for a saved model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from halfmoon._cli.common_options import (
    OUTPUT,
    PRINTING,
    CommonOptions,
    command,
    options,
)
from halfmoon._cli.paths import display_name

__all__ = ["inspect", "predict"]


@command("predict")
@click.argument("model", type=click.Path())
@click.argument("file", type=click.Path(allow_dash=True))
@options(OUTPUT)
def predict(common: CommonOptions, model: str) -> None:
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
    from halfmoon._cli.load_model import blaming_model, load_table_model
    from halfmoon._cli.print_summary import print_runs
    from halfmoon.table._fill_table import predict_table
    from halfmoon.table._folders import predict_folder
    from halfmoon.table._runs.run_summary import predicted_record

    common.refuse_folder_options()
    fitted = load_table_model(model)
    with common.progress() as bars, blaming_model(model), common.engine() as engine:
        if common.is_folder:
            predicted = predict_folder(
                model=fitted, stages=bars, engine=engine, **common.folder_run
            )
        else:
            with common.open_table() as table:
                predicted = predict_table(
                    table, model=fitted, stages=bars, **common.table_run
                )
        bars.finish()
    print_runs([(predicted_record(predicted, display_name(common.file)), {})], common)


ESTIMATOR_ATTRIBUTES = ("n_features_in_", "n_labeled_", "loo_score_")
MAX_PRINTED_CLASSES = 12


@command("inspect", click.Command)
@click.argument("model", type=click.Path())
@options(PRINTING)
def inspect(common: CommonOptions, model: str) -> None:
    """Show what MODEL predicts, what it was trained on, and how well it did.

    MODEL is a file that halfmoon fill --model, or halfmoon.save in Python, wrote. With
    --quiet nothing is printed; the exit code says whether the file can be used.

    \b
    Examples:
      halfmoon inspect flowers.halfmoon
      halfmoon inspect flowers.halfmoon --json
    """
    from halfmoon._cli.load_model import blaming_model, load_model
    from halfmoon._cli.print_summary import print_json

    loaded = load_model(model)
    with blaming_model(model):
        description = _description(loaded, model)
        if common.as_json:
            print_json(description)
        elif not common.quiet:
            click.echo("\n".join(_lines(description)))


def _description(model: Any, path: str) -> dict[str, Any]:
    """Return what is known about a model, as plain data."""
    from halfmoon.table._models.table_model import TableModel

    found: dict[str, Any] = {"file": path, "model": type(model).__name__}
    if isinstance(model, TableModel):
        return found | {
            "estimator": type(model.estimator_).__name__,
            **model.record_,
            "columns": [
                {"name": use.name, "kind": use.kind, "role": use.role, "why": use.why}
                for use in model.columns_
            ],
        }
    if hasattr(model, "get_params"):
        parameters = model.get_params(deep=False)
        found["parameters"] = {name: repr(value) for name, value in parameters.items()}
    return found | {
        name: getattr(model, name)
        for name in ESTIMATOR_ATTRIBUTES
        if hasattr(model, name)
    }


def _lines(found: dict[str, Any]) -> Iterator[str]:
    """Return the description as lines for a person."""
    if "target" not in found:
        yield f"{found['file']}: {found['model']}"
        attributes = {k: found[k] for k in ESTIMATOR_ATTRIBUTES if k in found}
        for name, value in (found.get("parameters", {}) | attributes).items():
            yield f"  {name} = {value}"
        return
    what = (
        f"{len(found['classes'])} classes: "
        f"{', '.join(list(found['classes'])[:MAX_PRINTED_CLASSES])}"
        if "classes" in found
        else "numbers"
    )
    yield f"{found['file']}: fills {found['target']} ({what}), {found['estimator']}"
    learned = found["learned_from"]
    yield (
        f"Trained on {found['source']}, {found['date']}: {learned['labels']:,} labels "
        f"and {learned['unlabeled_rows']:,} rows without a label, of "
        f"{found['rows']:,} rows."
    )
    yield "How well it did:"
    yield from (f"  {sentence}" for sentence in found["summary"])
    yield from (f"  Note: {note}" for note in found["notes"])
    yield "Columns:"
    for column in found["columns"]:
        why = f" ({column['why']})" if column["why"] else ""
        yield f"  {column['name']}: {column['kind']}, {column['role']}{why}"
    yield f"To train it again: {found['command']}"
    versions = ", ".join(f"{k} {v}" for k, v in found["versions"].items())
    yield f"Made with {versions}."

"""Run ``halfmoon predict`` and ``halfmoon inspect``: what a saved model can do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from halfmoon._cli.command_inputs import blaming_model, load_model, load_table_model
from halfmoon._cli.common_options import CommonOptions
from halfmoon._cli.paths import STREAM, display_name
from halfmoon._cli.terminal import print_json, print_runs, print_text
from halfmoon.table._files import refuse_place
from halfmoon.table._fill_table import predict_table
from halfmoon.table._folders import predict_folder
from halfmoon.table._models.table_model import TableModel
from halfmoon.table._runs.run_summary import predicted_record

__all__ = ["run_inspect", "run_predict"]

ESTIMATOR_ATTRIBUTES = ("n_features_in_", "n_labeled_", "loo_score_")
MAX_PRINTED_CLASSES = 12


def run_predict(common: CommonOptions, model: str) -> None:
    """Predict the rows of a table with a saved model."""
    common.refuse_folder_options()
    fitted = load_table_model(model)
    with common.progress() as bars, blaming_model(model), common.engine() as engine:
        if common.is_folder:
            predicted = predict_folder(
                model=fitted, stages=bars, engine=engine, **common.folder_run
            )
        else:
            if common.destination != STREAM:
                refuse_place(common.destination, common.overwrite, [model])
            with common.open_table() as table:
                predicted = predict_table(
                    table, model=fitted, stages=bars, **common.table_run
                )
        bars.finish()
    print_runs([(predicted_record(predicted, display_name(common.file)), {})], common)


def run_inspect(common: CommonOptions, model: str) -> None:
    """Print what is known about a saved model."""
    loaded = load_model(model)
    with blaming_model(model):
        description = _description(loaded, model)
        if common.as_json:
            print_json(description)
        elif not common.quiet:
            print_text("\n".join(_lines(description)))


def _description(model: Any, path: str) -> dict[str, Any]:
    """Return what is known about a model, as plain data."""
    found: dict[str, Any] = {"file": path, "model": type(model).__name__}
    if isinstance(model, TableModel):
        return found | {
            "estimator": type(model.estimator_).__name__,
            **model.record_,
            "columns": [
                {"name": use.name, "kind": use.kind, "role": use.role, "why": use.why}
                for use in model.columns_.uses
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
    yield f"{found['file']}: fills '{found['target']}' ({what}), {found['estimator']}"
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

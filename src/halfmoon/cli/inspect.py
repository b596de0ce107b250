"""``halfmoon inspect``: what a model file holds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import click

from halfmoon.cli.options import shared_options
from halfmoon.cli.outcome import ending_well

__all__ = ["inspect"]


@click.command(no_args_is_help=True)
@click.argument("model", type=click.Path())
@shared_options
def inspect(model: str, quiet: bool, as_json: bool, debug: bool) -> None:
    """Show what MODEL is, what it was trained on, and how well it did.

    MODEL is a file that halfmoon fill --model, or halfmoon.save in Python, wrote. With
    --quiet nothing is printed, and the exit code says whether the file is sound.

    \b
    Examples:
      halfmoon inspect flowers.halfmoon
      halfmoon inspect flowers.halfmoon --json
    """
    with ending_well(debug=debug, as_json=as_json):
        from halfmoon.cli.kept import any_model, used

        kept = any_model(model)
        with used(model):
            told = _description(kept, model)
            if as_json:
                click.echo(json.dumps(told, ensure_ascii=False, default=str))
            elif not quiet:
                click.echo("\n".join(_lines(told)))


def _description(model: Any, path: str) -> dict[str, Any]:
    """What is known of a model, as plain data."""
    from halfmoon.table.model import TableModel

    told: dict[str, Any] = {"file": path, "model": type(model).__name__}
    if isinstance(model, TableModel):
        return told | {
            "estimator": type(model.estimator_).__name__,
            **model.record_,
            "columns": [
                {"name": use.name, "kind": use.kind, "role": use.role, "why": use.why}
                for use in model.columns_
            ],
        }
    if hasattr(model, "get_params"):
        told["parameters"] = {
            name: repr(value) for name, value in model.get_params(deep=False).items()
        }
    for name in ("n_features_in_", "n_labeled_", "loo_score_"):
        if hasattr(model, name):
            told[name] = getattr(model, name)
    return told


def _lines(told: dict[str, Any]) -> Iterator[str]:
    """The same for a person to read."""
    if "target" not in told:
        yield f"{told['file']}: {told['model']}"
        for name, value in told.get("parameters", {}).items():
            yield f"  {name} = {value}"
        for name in ("n_features_in_", "n_labeled_", "loo_score_"):
            if name in told:
                yield f"  {name} = {told[name]}"
        return
    what = (
        f"{len(told['classes'])} classes: {', '.join(list(told['classes'])[:12])}"
        if "classes" in told
        else "numbers"
    )
    yield f"{told['file']}: fills {told['target']} ({what}), {told['estimator']}"
    learned = told["learned_from"]
    yield (
        f"Trained on {told['source']}, {told['date']}: {learned['labels']:,} labels "
        f"and {learned['unlabeled_rows']:,} rows without a label, of "
        f"{told['rows']:,} rows."
    )
    yield "How well it did:"
    yield from (f"  {sentence}" for sentence in told["summary"])
    yield from (f"  Note: {note}" for note in told["notes"])
    yield "Columns:"
    for column in told["columns"]:
        why = f" ({column['why']})" if column["why"] else ""
        yield f"  {column['name']}: {column['kind']}, {column['role']}{why}"
    yield f"To train it again: {told['command']}"
    yield (
        "Made with " + ", ".join(f"{k} {v}" for k, v in told["versions"].items()) + "."
    )

"""Forged models of tables with valid checksums: a prediction or a one-line error."""

import copy
import io
import json
import random
import zipfile
from collections import defaultdict

import numpy as np
import pytest

import halfmoon
from model_files import mutations

pa = pytest.importorskip("pyarrow")

from halfmoon._cli.command_inputs import blaming_model, load_table_model  # noqa: E402
from halfmoon.table import (  # noqa: E402
    Settings,
    fill_table,
    open_table,
    predict_table,
)
from halfmoon.table._table_errors import TableError  # noqa: E402

N = 40
ONE_CANDIDATE = 1e-6  # budget in seconds, so that every machine has the same model
versions = pytest.mark.filterwarnings(
    "ignore::halfmoon._model_files.ModelVersionWarning", "ignore::RuntimeWarning"
)


def rows(kind):
    draw = np.random.default_rng(0)
    yield "size,color,day,words,y"
    for i in range(N):
        side = i % 2
        label = (
            ("low", "high")[side] if kind == "classes" else f"{5 * side + i / N:.2f}"
        )
        yield (
            f"{4 * side + draw.normal():.3f},{('red', 'blue', 'gray')[i % 3]},"
            f"2024-01-{1 + i % 28:02d},a {('cat', 'dog')[side]} and thing {i},"
            f"{label if i < 20 else ''}"
        )


def saved_model(kind, budget, folder):
    """Return a folder with a table and its model, and the two members of the file."""
    (folder / "t.csv").write_text("\n".join(rows(kind)) + "\n")
    with open_table(folder / "t.csv") as table:
        filled = fill_table(table, folder / "o.csv", Settings("y", budget=budget))
    filled.model.record_ = {"settings": {"unlabeled": None}}
    halfmoon.save(filled.model, folder / "m.halfmoon")
    with zipfile.ZipFile(folder / "m.halfmoon") as parts:
        document = json.loads(parts.read("model.json"))
        arrays = parts.read("arrays.safetensors")
    return folder, document, arrays


@pytest.fixture(scope="module", params=["classes", "numbers"])
def model(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    return saved_model(request.param, ONE_CANDIDATE, folder)


def leaves(value, path=()):
    if isinstance(value, (dict, list)):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in items:
            yield from leaves(item, (*path, key))
    elif path[-1] not in ("kind", "class"):
        yield path


def places_of(document):
    """Return where each class and kind has numbers, texts and references."""
    places = defaultdict(list)
    for number, node in enumerate(document["nodes"]):
        name = node.get("class", node["kind"])
        places[name] += [(number, path) for path in leaves(node)]
    return {name: places[name] for name in sorted(places) if places[name]}


def forged(document, places, draw):
    """Replace a number, a text or a reference, in each class and kind as often."""
    document = {**document, "nodes": list(document["nodes"])}
    for _ in range(draw.choice([1, 1, 2])):
        number, (*path, last) = draw.choice(places[draw.choice(list(places))])
        holder = copy.deepcopy(document["nodes"][number])
        document["nodes"][number] = holder
        for step in path:
            holder = holder[step]
        old = holder[last]
        if last == "ref":
            new = [draw.randrange(len(document["nodes"]))]
        elif type(old) is int:
            new = [old + 1, old - 1, 2 * old, 0, -1, old + 1000, float(old)]
        elif type(old) is float:
            new = [old + 1, -old, 0.0, 1e300, None, int(old)]
        elif isinstance(old, str):
            new = ["x", "", None, old + "x", 0]
        else:
            new = [None, True, False, 0, 1.5, "x"]
        holder[last] = draw.choice(new)
    return document


def check_forged(model, seeds):
    """Load each and predict; return how many were refused and how many predicted."""
    folder, document, arrays = model
    places = places_of(document)
    place, refused, predicted = folder / "forged.halfmoon", 0, 0
    for seed in seeds:
        draw = random.Random(seed)
        changed = forged(document, places, draw) if seed % 4 else document
        bytes_ = arrays if seed % 4 else mutations.change_bytes(arrays, draw)
        place.write_bytes(mutations.sealed(changed, bytes_))
        try:
            kept = load_table_model(str(place))
            with open_table(folder / "t.csv") as table, blaming_model(str(place)):
                predict_table(table, io.BytesIO(), kept)
            predicted += 1
        except (TableError, MemoryError):
            refused += 1
    return refused, predicted


@pytest.mark.slow
@versions
def test_forged_models_predict_or_are_refused_in_one_line(model):
    refused, predicted = check_forged(model, range(100))
    assert refused > 25
    assert predicted > 10


@versions
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_many_forged_models(kind, tmp_path):
    check_forged(saved_model(kind, 0.3, tmp_path), range(1_000, 4_000))


@versions
def test_parts_that_do_not_fit_each_other_are_refused(model):
    folder, *_ = model
    kept = halfmoon.load(folder / "m.halfmoon")
    varying = kept.encoder_.varying  # one column less than the estimator learned from
    kept.encoder_.varying = np.arange(len(varying)) > 0
    halfmoon.save(kept, folder / "less.halfmoon")
    with pytest.raises(
        halfmoon._model_files.ModelFileError, match="altered or damaged"
    ):
        halfmoon.load(folder / "less.halfmoon")


def test_the_trial_prediction_does_not_change_the_model(model):
    folder, *_ = model
    kept = halfmoon.load(folder / "m.halfmoon")
    assert not any(kept.columns_.unread.values())
    empty = pa.table(
        {use.name: pa.nulls(3, pa.float64()) for use in kept.columns_.used}
    )
    assert len(kept.predict(empty).values) == 3

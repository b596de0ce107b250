"""Models of tables with changed contents and valid checksums: an answer or a line."""

import copy
import io
import json
import random
import zipfile

import numpy as np
import pytest

import halfmoon
from model_files import mutations

pa = pytest.importorskip("pyarrow")
pytest.importorskip("skrub")

from halfmoon.cli.kept import table_model, used  # noqa: E402
from halfmoon.table import (  # noqa: E402
    Settings,
    fill_table,
    open_table,
    predict_table,
)
from halfmoon.table.errors import TableError  # noqa: E402

N = 40
versions = pytest.mark.filterwarnings(
    "ignore::halfmoon.model_files.ModelVersionWarning", "ignore::RuntimeWarning"
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


@pytest.fixture(scope="module", params=["classes", "numbers"])
def model(request, tmp_path_factory):
    """A folder with a table and its model, and the two parts of the file."""
    folder = tmp_path_factory.mktemp(request.param)
    (folder / "t.csv").write_text("\n".join(rows(request.param)) + "\n")
    settings = Settings("y", budget=1.0)
    with open_table(folder / "t.csv") as table:
        filled = fill_table(table, folder / "o.csv", settings)
    filled.model.record_ = {"settings": {"unlabeled": None}}
    halfmoon.save(filled.model, folder / "m.halfmoon")
    with zipfile.ZipFile(folder / "m.halfmoon") as parts:
        document = json.loads(parts.read("model.json"))
        arrays = parts.read("arrays.safetensors")
    return folder, document, arrays


def leaves(value, path=()):
    if isinstance(value, (dict, list)):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in items:
            yield from leaves(item, (*path, key))
    elif path[-1] not in ("kind", "class"):
        yield path


def forged(document, draw):
    """A document in which a number, a text or a reference is another one."""
    document = copy.deepcopy(document)
    places = list(leaves(document["nodes"]))
    for _ in range(draw.choice([1, 1, 2])):
        *path, last = draw.choice(places)
        holder = document["nodes"]
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
    """Load each and predict; how many were refused and how many answered."""
    folder, document, arrays = model
    place, refused, answered = folder / "forged.halfmoon", 0, 0
    for seed in seeds:
        draw = random.Random(seed)
        changed = forged(document, draw) if seed % 4 else document
        bytes_ = arrays if seed % 4 else mutations.change_bytes(arrays, draw)
        place.write_bytes(mutations.sealed(changed, bytes_))
        try:
            kept = table_model(str(place))
            with open_table(folder / "t.csv") as table, used(str(place)):
                predict_table(table, io.BytesIO(), kept)
            answered += 1
        except (TableError, MemoryError):
            refused += 1
    return refused, answered


@versions
def test_forged_models_end_in_one_line(model):
    refused, answered = check_forged(model, range(30))
    assert refused > 5
    assert answered > 5


@versions
@pytest.mark.slow
def test_many_forged_models(model):
    check_forged(model, range(1_000, 4_000))


@versions
def test_what_does_not_fit_together_is_refused_when_loaded(model):
    folder, *_ = model
    kept = halfmoon.load(folder / "m.halfmoon")
    vectors = kept.vectors_  # of a feature less than the estimator has learned from
    object.__setattr__(vectors, "kept", np.arange(len(vectors.kept)) > 0)
    halfmoon.save(kept, folder / "less.halfmoon")
    with pytest.raises(halfmoon.model_files.ModelFileError, match="altered or damaged"):
        halfmoon.load(folder / "less.halfmoon")


def test_a_sound_model_is_not_changed_by_its_trial(model):
    folder, *_ = model
    kept = halfmoon.load(folder / "m.halfmoon")
    assert not any(kept.unread_.values())
    empty = pa.table({use.name: pa.nulls(3, pa.float64()) for use in kept.table_.used})
    assert len(kept.predict(empty).values) == 3

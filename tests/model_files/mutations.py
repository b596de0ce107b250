"""Nearly valid files: changed bytes, or a changed document with valid checksums.

As a script it loads many of them under an audit hook, and fails if anything is executed
or imported, or if another file is opened: see `test_fuzz.py`.
"""

from __future__ import annotations

import copy
import io
import json
import random
import sys
import zipfile
from hashlib import sha256

#: Values that an attacker may put anywhere.
POOL = [
    None,
    True,
    -1,
    0,
    2**31,
    2**63,
    10**30,
    1e308,
    -0.5,
    "",
    "os.system",
    "builtins.eval",
    "__class__",
    "__reduce__",
    "__dict__",
    "predict",
    "function",
    "method",
    "partial",
    "object",
    "array",
    "objects",
    "tuple",
    "dict",
    "set",
    "neighbor search",
    "sparse matrix",
    "random state",
    "|O",
    "<f8",
    "<U1000000000",
    "halfmoon.kernels.Gaussian",
    "halfmoon.problem.Fit",
    "halfmoon._atomic_files.whole_file",
    "halfmoon._estimators.HeldOut",
    "halfmoon.kernels.Kernel",
    "sklearn.pipeline.Pipeline",
    "sklearn.preprocessing.FunctionTransformer",
    "halfmoon.table.TextEncoder",
    "numpy.exp",
    "numpy.f2py",
    "halfmoon.problem.solve_ridge",
    "../../etc/passwd",
    [],
    [-1],
    [0, 0],
    [2**40, 2**40],
    {},
    {"ref": 0},
    {"ref": 1},
    {"ref": -1},
    {"ref": 10**9},
    {"ref": "0"},
    {"ref": 0, "kind": "tuple"},
    {"kind": "object", "class": "builtins.object", "state": {}},
    {"kind": "tuple", "items": []},
    {"kind": "scalar", "parts": {"array": {"ref": 0}}},
    {"kind": "generator", "parts": {"numbers": {"ref": 0}}},
]


def change_bytes(data: bytes, rng: random.Random) -> bytes:
    """Flip, delete, insert or repeat some bytes."""
    out = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5, 20])):
        at = rng.randrange(len(out)) if out else 0
        if rng.random() < 0.3:  # the directory at the end, where zipfile begins
            at = max(0, len(out) - 1 - rng.randrange(300))
        move = rng.randrange(5)
        if move == 0 and out:
            out[at] ^= 1 << rng.randrange(8)
        elif move == 1:
            del out[at : at + rng.choice([1, 4, 100, len(data)])]
        elif move == 2:
            out[at:at] = rng.randbytes(rng.choice([1, 4, 30]))
        elif move == 3 and out:
            out[at] = rng.choice([0, 255, 80, 75])
        else:
            out[at:at] = out[at : at + rng.choice([4, 46, 300])]
    return bytes(out)


def _places(value, path=()):
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from _places(value[key], (*path, key))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from _places(item, (*path, i))


def change_document(document, rng: random.Random):
    """Replace, delete, rename or insert some values."""
    document = copy.deepcopy(document)
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        places = list(_places(document))
        path = rng.choice(places[1:] or [()])
        holder = document
        for step in path[:-1]:
            holder = holder[step]
        if not path:
            return rng.choice(POOL)
        move, other = rng.randrange(6), rng.choice(places)
        if move == 0:
            del holder[path[-1]]
        elif move == 1:  # something from elsewhere in the document
            found = document
            for step in other:
                found = found[step]
            holder[path[-1]] = copy.deepcopy(found)
        elif move == 2 and isinstance(holder, dict):
            holder[str(rng.choice(POOL))] = holder.pop(path[-1])
        elif move == 3 and isinstance(holder, list):
            holder.insert(path[-1], copy.deepcopy(rng.choice(holder)))
        elif move == 4 and type(holder[path[-1]]) is int:
            holder[path[-1]] += rng.choice([-1, 1, 2, 1000])
        else:
            holder[path[-1]] = copy.deepcopy(rng.choice(POOL))
    return document


def sealed(document, arrays: bytes) -> bytes:
    """Return a file of these contents with valid checksums."""
    text = json.dumps(document).encode()
    sums = f"{sha256(text).hexdigest()} {sha256(arrays).hexdigest()}"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("model.json", text)
        archive.writestr("arrays.safetensors", arrays)
        archive.comment = f"halfmoon model, schema 1, sha256 {sums}".encode()
    return out.getvalue()


def mutated(data: bytes, seed: int) -> bytes:
    """Return a nearly valid file made from a valid one."""
    rng = random.Random(seed)
    if rng.random() < 0.3:
        return change_bytes(data, rng)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        document = json.loads(archive.read("model.json"))
        arrays = archive.read("arrays.safetensors")
    if rng.random() < 0.15:
        arrays = change_bytes(arrays, rng)
    else:
        document = change_document(document, rng)
    return sealed(document, arrays)


FORBIDDEN = ("exec", "compile", "import", "pickle.", "subprocess.", "os.", "ctypes.")
FORBIDDEN += ("socket.", "code.", "marshal.", "shutil.", "tempfile.", "open")


def main(source: str, target: str, first: int, count: int) -> None:
    """Load many files while an audit hook watches the interpreter."""
    import warnings
    from pathlib import Path

    import halfmoon
    from halfmoon._model_files import ModelFileError, registry, state

    extras = {"safetensors", "skrub", "pyarrow.csv", "click", "jinja2", "torch"}
    if early := extras & set(sys.modules):
        raise SystemExit(f"import halfmoon imports {early}")
    warnings.simplefilter("ignore")
    data, path = Path(source).read_bytes(), Path(target)
    # Registered modules are imported and annotations are read before the watch begins.
    for module in registry.HALFMOON_MODULES:
        for cls in registry._halfmoon_classes(
            registry._stable_package(module)
        ).values():
            state._hints(cls)
    for module, names in registry.SKLEARN_CLASSES.items():
        for name in names:
            registry.class_named(f"{module}.{name}")
    halfmoon.load(source)
    watching, events = [False], []

    def hook(event, args):
        if watching[0] and event.startswith(FORBIDDEN):
            if event == "open" and str(args[0]) == str(path):
                return
            events.append((event, repr(args)[:200]))

    sys.addaudithook(hook)
    loaded = 0
    for seed in range(first, first + count):
        path.write_bytes(mutated(data, seed))
        watching[0] = True
        try:
            halfmoon.load(path)
            loaded += 1
        except ModelFileError:
            pass
        finally:
            watching[0] = False
        if events:
            raise SystemExit(f"seed {seed}: {events[:3]}")
    sys.stdout.write(f"{count} files, {loaded} loaded, nothing run\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))

"""Malicious files with valid checksums: each is refused with one line."""

import json
import zipfile

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import halfmoon as hm
from halfmoon._model_files import ModelFileError
from halfmoon._model_files import container as container_module
from halfmoon.smoothers import Neighbors

X = np.random.default_rng(0).normal(size=(20, 2))
Y = np.where(np.arange(20) < 9, X[:, 0], np.nan)


@pytest.fixture
def parts(tmp_path, saved):
    hm.save(hm.ConditionalRegressor(alpha=1e-3).fit(X, Y), tmp_path / "good")
    return saved(tmp_path / "good")


def refused(path, text):
    with pytest.raises(ModelFileError, match=text) as caught:
        hm.load(path)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


def node_of(document, kind, name=""):
    for node in document["nodes"]:
        if node["kind"] == kind and node.get("class", name).endswith(name):
            return node
    raise LookupError(kind)


CLASSES = [
    "os.system",
    "builtins.eval",
    "builtins.object",
    "subprocess.Popen",
    "pickle.Unpickler",
    "halfmoon._atomic_files.whole_file",
    "halfmoon.blocks.ThreadPoolExecutor",
    "halfmoon._graphs.NearestNeighbors",
    "halfmoon._model_files.errors.ModelFileError",
    "sklearn.ensemble.RandomForestClassifier",
    "joblib.Memory",
    "torch.nn.Linear",
    "../../evil",
    "",
    None,
    ["halfmoon.kernels.Gaussian"],
]


@pytest.mark.parametrize("name", CLASSES, ids=str)
def test_classes(name, parts, forge, tmp_path):
    document, arrays = parts
    node_of(document, "object", "Gaussian")["class"] = name
    refused(forge(tmp_path / "bad", document, arrays), "names the class .* no model")


def test_abstract_classes(parts, forge, tmp_path):
    document, arrays = parts
    node_of(document, "object", "Gaussian")["class"] = "halfmoon.kernels.Kernel"
    refused(forge(tmp_path / "bad", document, arrays), "of the abstract class")


ATTRIBUTES = [
    "__class__",
    "__dict__",
    "__reduce__",
    "__getattr__",
    "predict",
    "fit",
    "get_params",
    "dual_coef_",
    "a b",
    "",
]


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_attributes(name, parts, forge, tmp_path):
    document, arrays = parts
    node_of(document, "object", "ConditionalRegressor")["state"][name] = 1
    refused(forge(tmp_path / "bad", document, arrays), "would hide a part of the class")


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("n_jobs", [1], "is not in it"),
        ("n_jobs", "all", "ConditionalRegressor.n_jobs is str, where int or None is"),
        (
            "alpha",
            "x",
            "ConditionalRegressor.alpha is str, where 'auto' or float or Sequence is",
        ),
        ("alpha", None, "ConditionalRegressor.alpha is NoneType|is None, where"),
        ("solution_", 1, "ConditionalRegressor.solution_ is int, where Fit or Out"),
        ("labeled_", 1, "ConditionalRegressor.labeled_ is int, where ndarray is"),
    ],
    ids=["list", "text", "alpha", "none", "solution", "labeled"],
)
def test_types_of_attributes(name, value, text, parts, forge, tmp_path):
    document, arrays = parts
    node_of(document, "object", "ConditionalRegressor")["state"][name] = value
    refused(forge(tmp_path / "bad", document, arrays), text)


def test_an_alpha_that_is_a_list(parts, forge, tmp_path):
    document, arrays = parts
    document["nodes"].append({"kind": "list", "items": []})
    number = len(document["nodes"]) - 1
    node_of(document, "object", "Fit")["state"]["alpha"] = {"ref": number}
    path = forge(tmp_path / "bad", document, arrays)
    refused(path, "cannot be loaded: Fit.alpha is list, where float or None is needed")


def test_missing_attributes(parts, forge, tmp_path):
    document, arrays = parts
    for cls, name in (("Fit", "theta"), ("ConditionalRegressor", "kernel")):
        changed = json.loads(json.dumps(document))
        del node_of(changed, "object", cls)["state"][name]
        path = forge(tmp_path / "bad", changed, arrays)
        refused(path, f"{cls} lacks its attribute '{name}'|nothing refers to")


def test_a_file_from_before_an_attribute_with_a_default(parts, forge, tmp_path):
    document, arrays = parts
    del node_of(document, "object", "Fit")["state"]["one_alpha"]
    loaded = hm.load(forge(tmp_path / "older", document, arrays))
    expected = hm.load(tmp_path / "good")
    assert not loaded.solution_.one_alpha
    assert expected.solution_.one_alpha
    errors = [each.leave_one_out() for each in (loaded, expected)]
    np.testing.assert_allclose(*errors, rtol=1e-10)


NODES = {
    "a function": ({"kind": "function", "parts": {"name": "os.system"}}, "function"),
    "a builtin": ({"kind": "function", "parts": {"name": "builtins.eval"}}, "function"),
    "a function of ours": (
        {"kind": "function", "parts": {"name": "halfmoon.datasets.two_gaussians"}},
        "names the function",
    ),
    "a submodule": (
        {"kind": "function", "parts": {"name": "numpy.f2py"}},
        "names the function",
    ),
    "a function of two arrays": (
        {"kind": "function", "parts": {"name": "numpy.add"}},
        "names the function",
    ),
    "a method": (
        {"kind": "method", "parts": {"owner": {"ref": 0}, "name": "fit"}},
        "kind method, which this halfmoon does not know",
    ),
    "a partial": (
        {"kind": "partial", "parts": {"function": 1, "args": 1, "keywords": 1}},
        "invalid partial",
    ),
    "pickle": ({"kind": "pickle", "parts": {}}, "kind pickle, which this halfmoon"),
    "no kind": ({}, "kind None"),
    "a kind that is a list": ({"kind": ["tuple"]}, "which this halfmoon does not know"),
    "other parts": ({"kind": "scalar", "parts": {"data": ""}}, "not well formed"),
    "itself": ({"kind": "tuple", "items": [{"ref": "self"}]}, "before it is made"),
    "a named tuple": (
        {"kind": "object", "class": "halfmoon.estimators.HeldOut", "state": {}},
        "of the abstract class",
    ),
    "object dtype": (
        {"kind": "array", "dtype": "|O", "shape": [1], "order": [0]},
        "not well formed",
    ),
    "empty texts": (  # NumPy would take 4 bytes for each
        {"kind": "array", "dtype": "<U0", "shape": [2**33], "order": [0]},
        "not well formed",
    ),
    "no dtype": (
        {"kind": "array", "dtype": "f8,f8", "shape": [1], "order": [0]},
        "unknown dtype",
    ),
    "huge": (
        {"kind": "array", "dtype": "<f8", "shape": [2**40, 2**40], "order": [0, 1]},
        "the size of the arrays is wrong",
    ),
    "huge objects": (
        {"kind": "objects", "shape": [2**40, 2**40], "items": []},
        "not well formed",
    ),
    "negative": (
        {"kind": "array", "dtype": "<f8", "shape": [-1], "order": [0]},
        "impossible shape",
    ),
    "many axes": (
        {"kind": "array", "dtype": "<f8", "shape": [1] * 99, "order": list(range(99))},
        "impossible shape",
    ),
    "an array that is not there": (
        {"kind": "array", "dtype": "<f8", "shape": [2], "order": [0]},
        "the size of the arrays is wrong",
    ),
    "an empty one that is not there": (
        {"kind": "array", "dtype": "<f8", "shape": [0], "order": [0]},
        "not those that model.json lists",
    ),
    "a number that is text": ({"kind": "scalar", "parts": {"array": "1"}}, "invalid s"),
    "a list as a key": (
        {"kind": "dict", "items": [{"ref": "self"}, 1]},
        "holds an invalid dict",
    ),
    "an object as a key": (
        {"kind": "dict", "items": [{"ref": 0}, 1]},
        "holds an invalid dict",
    ),
    "colliding keys": (
        {"kind": "dict", "items": [2**61 - 1, 1, 2 * (2**61 - 1), 2]},
        "holds an invalid dict",
    ),
    "half a pair": ({"kind": "dict", "items": ["a"]}, "holds an invalid dict"),
    "a key twice": (
        {"kind": "dict", "items": ["a", 1, "a", 2]},
        "holds an invalid dict",
    ),
    "not a node": (["tuple"], "not well formed"),
    "search": (
        {"kind": "neighbor search", "parts": {"rows": 1, "n_neighbors": 1}},
        "invalid neighbor search",
    ),
}


@pytest.mark.parametrize("case", NODES)
def test_nodes(case, parts, forge, tmp_path):
    node, text = NODES[case]
    document, arrays = parts
    number = len(document["nodes"])
    text_of_node = json.dumps(node).replace('"self"', str(number))
    document["nodes"].append(json.loads(text_of_node))
    node_of(document, "object", "ConditionalRegressor")["state"]["extra_"] = {
        "ref": number
    }
    refused(forge(tmp_path / "bad", document, arrays), text)


def chain(link, length):
    """Nodes of a list with a value that has `length` layers."""
    nodes = [{"kind": "list", "items": [{"ref": length}]}]
    for number in range(length):
        inner = {"ref": number} if number else None
        nodes.append(json.loads(json.dumps(link).replace('"inner"', json.dumps(inner))))
    return nodes


LINKS = {
    "tuples": {"kind": "tuple", "items": ["inner"]},
    "slices": {
        "kind": "slice",
        "parts": {"start": None, "stop": "inner", "step": None},
    },
    "arrays": {"kind": "objects", "shape": [1], "items": ["inner"]},
}


@pytest.mark.parametrize("case", LINKS)
def test_many_layers(case, parts, forge, tmp_path):
    """Python would run out of stack, and end, when it frees or hashes the value."""
    document, _ = parts
    empty = (2).to_bytes(8, "little") + b"{}"
    for length in (499, 501):
        nodes = chain(LINKS[case], length)
        bad = document | {"nodes": nodes, "root": {"ref": 0}}
        path = forge(tmp_path / "bad", bad, empty)
        if length < 500:
            assert len(hm.load(path)) == 1
        else:
            refused(path, "nested too deeply to be a model")


def test_keys_that_take_forever(parts, forge, tmp_path):
    """A tuple of one tuple twice, and so on: its hash visits 2^60 tuples."""
    document, _ = parts
    nodes = [{"kind": "set", "items": [{"ref": 60}]}, {"kind": "tuple", "items": [1]}]
    nodes += [{"kind": "tuple", "items": [{"ref": i}] * 2} for i in range(1, 60)]
    empty = (2).to_bytes(8, "little") + b"{}"
    bad = document | {"nodes": nodes, "root": {"ref": 0}}
    refused(forge(tmp_path / "bad", bad, empty), "holds an invalid set")


def test_colliding_numbers_in_keys(parts, forge, tmp_path):
    document, _ = parts
    digits = hex(3 * (2**61 - 1))
    nodes = [
        {"kind": "set", "items": [{"ref": 2}]},
        {"kind": "integer", "parts": {"digits": digits}},
        {"kind": "tuple", "items": [{"ref": 1}]},
    ]
    empty = (2).to_bytes(8, "little") + b"{}"
    bad = document | {"nodes": nodes, "root": {"ref": 0}}
    refused(forge(tmp_path / "bad", bad, empty), "holds an invalid set")


def test_many_values_of_one_array(tmp_path, saved, forge):
    """A search for neighbors copies its rows, so that a small file would be large."""
    model = hm.FredholmRegressor(smoother=Neighbors(3), alpha=1e-3).fit(X, Y)
    hm.save(model, tmp_path / "good")
    document, arrays = saved(tmp_path / "good")
    search = node_of(document, "neighbor search")
    for copies in (19, 20):
        nodes = [json.loads(json.dumps(each)) for each in document["nodes"]]
        n = len(nodes)
        nodes += [search] * copies
        state = node_of({"nodes": nodes}, "object", "FredholmRegressor")["state"]
        state["extra_"] = {"ref": n + copies}
        nodes.append({"kind": "list", "items": [{"ref": n + i} for i in range(copies)]})
        path = forge(tmp_path / "bad", document | {"nodes": nodes}, arrays)
        if copies == 19:
            assert len(hm.load(path).extra_) == 19
        else:
            refused(path, "makes more than 20 values of an array")


def test_references(parts, forge, tmp_path):
    document, arrays = parts
    for root in ({"ref": 10**9}, {"ref": -1}, {"ref": "0"}, {"ref": True}, [0], {}):
        path = forge(tmp_path / "bad", document | {"root": root}, arrays)
        refused(path, "refers to something that is not in it")
    path = forge(tmp_path / "bad", document | {"root": None}, arrays)
    refused(path, "holds parts that nothing refers to")


def test_unused_arrays(parts, forge, tmp_path):
    document, arrays = parts
    node = {"kind": "array", "dtype": "<f8", "shape": [0], "order": [0]}
    document["nodes"].append(node)
    length = int.from_bytes(arrays[:8], "little")
    header = json.loads(arrays[8 : 8 + length])
    end = max(each["data_offsets"][1] for each in header.values())
    header[str(len(document["nodes"]) - 1)] = {
        "dtype": "F64",
        "shape": [0],
        "data_offsets": [end, end],
    }
    text = json.dumps(header).encode()
    arrays = len(text).to_bytes(8, "little") + text + arrays[8 + length :]
    refused(forge(tmp_path / "bad", document, arrays), "parts that nothing refers to")


def test_sparse_indices_out_of_range(tmp_path, saved, forge):
    import scipy.sparse as sp

    hm.save(sp.csr_array(np.eye(3)), tmp_path / "good")
    document, arrays = saved(tmp_path / "good")
    indices = np.array([0, 1, 2], dtype=np.int32).tobytes()
    wrong = np.array([0, 1, 10**6], dtype=np.int32).tobytes()
    path = forge(tmp_path / "bad", document, arrays.replace(indices, wrong, 1))
    refused(path, "holds an invalid sparse matrix")


def test_random_state_position_out_of_range(tmp_path, saved, forge):
    hm.save(np.random.RandomState(0), tmp_path / "good")
    document, arrays = saved(tmp_path / "good")
    node_of(document, "random state")["parts"]["pos"] = 10**6
    refused(forge(tmp_path / "bad", document, arrays), "holds an invalid random state")


def test_neighbor_indices_out_of_range(tmp_path, saved, forge):
    model = hm.FredholmRegressor(smoother=Neighbors(3), alpha=1e-3).fit(X, Y)
    hm.save(model, tmp_path / "good")
    document, arrays = saved(tmp_path / "good")
    text = "the attributes of NeighborIndex contradict each other"
    state = node_of(document, "object", "NeighborIndex")["state"]
    right = dict(state)
    for wrong in (
        {"n_neighbors": 20},
        {"scales": node_of(document, "object", "Posed")["state"]["w"]},
        {"_rows": node_of(document, "object", "Fit")["state"]["beta"]},
    ):
        state |= right | wrong
        refused(forge(tmp_path / "bad", document, arrays), f"{text}|nothing refers to")
    state |= right
    own = model.solution_.posed.basis.smoother_.index_._own
    far = np.where(own == own.max(), 10**9, own)
    path = forge(
        tmp_path / "bad", document, arrays.replace(own.tobytes(), far.tobytes())
    )
    refused(path, text)


def test_vocabulary_indices_out_of_range(tmp_path, saved, forge):
    hm.save(TfidfVectorizer().fit(["one two", "two three"]), tmp_path / "good")
    document, arrays = saved(tmp_path / "good")
    words = node_of(document, "dict")["items"]
    words[1] = 10**9
    path = forge(tmp_path / "bad", document, arrays)
    refused(path, "the attributes of TfidfVectorizer contradict each other")


def test_joblib_memory_is_refused(tmp_path, saved, forge):
    hm.save(make_pipeline(StandardScaler()), tmp_path / "good")
    document, arrays = saved(tmp_path / "good")
    node_of(document, "object", "Pipeline")["state"]["memory"] = "/tmp/cache"
    path = forge(tmp_path / "bad", document, arrays)
    refused(path, "Pipeline.memory must be None in a model file")


TEXTS = {
    "deep": (b"[" * 200_000, "nested too deeply"),
    "NaN": (b'{"a": NaN}', "holds the bare number NaN"),
    "infinite": (b'{"a": -Infinity}', "holds the bare number -Infinity"),
    "doubled": (b'{"a": 1, "a": 2}', "holds a name twice"),
    "no JSON": (b"import os", "has been altered or damaged"),
    "other bytes": (b"\xff\xfe\x00", "has been altered or damaged"),
    "a list": (b"[]", "is not a halfmoon model file"),
    "nothing": (b"", "has been altered or damaged"),
    "many digits": (b'{"a": ' + b"9" * 10_000 + b"}", "has been altered or damaged"),
}


@pytest.mark.parametrize("case", TEXTS)
def test_documents(case, forge, tmp_path):
    text, expected = TEXTS[case]
    refused(forge(tmp_path / "bad", text, b""), expected)


@pytest.mark.parametrize(
    "name", ["../evil", "/etc/evil", "evil.py", "model.json/", "MODEL.JSON"]
)
def test_members(name, parts, forge, tmp_path):
    path = forge(tmp_path / "bad", *parts, extra=[(name, "x")])
    refused(path, "must hold model.json and arrays.safetensors and nothing else")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["bad", "good"]


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_repeated_members(parts, forge, tmp_path):
    path = forge(tmp_path / "bad", *parts, extra=[("model.json", "{}")])
    refused(path, "must hold model.json and arrays.safetensors and nothing else")


def test_zip_bomb(tmp_path):
    with zipfile.ZipFile(tmp_path / "bad", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model.json", b" " * 50_000_000)
        archive.writestr("arrays.safetensors", b"")
        archive.comment = b"halfmoon model, schema 1, sha256 " + b" ".join(
            [b"0" * 64, b"0" * 64]
        )
    assert (tmp_path / "bad").stat().st_size < 100_000
    refused(tmp_path / "bad", "model.json is compressed or encrypted")


def test_wrong_sizes_in_the_directory(parts, forge, tmp_path):
    path = forge(tmp_path / "bad", *parts)
    data = path.read_bytes()
    at = data.index(b"PK\x01\x02")  # the first entry of the directory
    sizes = (2**31).to_bytes(4, "little") * 2
    path.write_bytes(data[: at + 20] + sizes + data[at + 28 :])
    refused(path, "its members are larger than the file")
    path.write_bytes(data[: at + 24] + sizes[:4] + data[at + 28 :])
    refused(path, "the sizes of model.json contradict each other")


def test_too_much_json(parts, forge, tmp_path, monkeypatch):
    path = forge(tmp_path / "bad", *parts)
    monkeypatch.setattr(container_module, "MAX_JSON_BYTES", 100)
    refused(path, "bytes in addition to its arrays; at most 100 are read")


def test_wrong_checksums(parts, forge, tmp_path):
    comment = "halfmoon model, schema 1, sha256 " + " ".join(["0" * 64] * 2)
    path = forge(tmp_path / "bad", *parts, comment=comment.encode())
    refused(path, "has been altered or damaged .*checksum of model.json")

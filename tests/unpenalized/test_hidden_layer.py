"""Hidden layers of trained networks, against the predictions of the networks."""

import sys
import types

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from halfmoon.bases import Exact
from halfmoon.kernels import Gaussian
from halfmoon.problem import Problem
from halfmoon.unpenalized import Constant, HiddenLayer
from halfmoon.unpenalized._hidden_layer import is_network


@pytest.fixture
def data(rng):
    X = rng.normal(size=(40, 3))
    return X, np.sin(X[:, 0]) + X[:, 1]


def network(kind=MLPRegressor, **settings):
    settings = {"hidden_layer_sizes": (7, 4), "activation": "tanh", **settings}
    return kind(solver="lbfgs", alpha=0.1, random_state=0, tol=1e-2, **settings)


@pytest.mark.parametrize("activation", ["identity", "logistic", "tanh", "relu"])
def test_the_head_on_the_last_layer_is_the_network(data, activation):
    X, y = data
    mlp = network(activation=activation).fit(X, y)
    F = HiddenLayer(mlp, constant=False).fit(X).transform(X)
    assert F.shape == (40, 4)
    head = F @ mlp.coefs_[-1] + mlp.intercepts_[-1]
    assert_allclose(head[:, 0], mlp.predict(X), rtol=1e-10)


@pytest.mark.parametrize("layer", [0, -2])
def test_an_earlier_layer(data, layer):
    X, y = data
    mlp = network(activation="relu").fit(X, y)
    features = HiddenLayer(mlp, layer=layer).fit(X)
    expected = np.maximum(X @ mlp.coefs_[0] + mlp.intercepts_[0], 0)
    assert_allclose(features.transform(X)[:, 1:], expected, rtol=1e-12)
    assert_array_equal(features.transform(X)[:, 0], np.ones(40))
    assert features.names_ == ["1", *(f"unit {j}" for j in range(7))]
    assert features.degree_ == 0


def test_a_classifier_in_a_pipeline_and_csr_rows(data):
    X, y = data
    model = make_pipeline(StandardScaler(with_mean=False), network(MLPClassifier))
    model.fit(X, y > 0)
    features = HiddenLayer(model, constant=False).fit(X)
    scores = features.transform(X) @ model[-1].coefs_[-1] + model[-1].intercepts_[-1]
    expected = model.predict_proba(X)[:, 1]
    assert_allclose(1 / (1 + np.exp(-scores[:, 0])), expected, rtol=1e-9)
    assert_allclose(
        features.transform(sp.csr_array(X)), features.transform(X), rtol=1e-12
    )


def test_as_features_of_a_problem(data):
    """With a huge alpha only the linear model on the layer is left."""
    X, y = data
    mlp = network().fit(X, y)
    F = HiddenLayer(mlp).fit(X).transform(X)
    fit = Problem(Exact(Gaussian(1.0)), unpenalized=HiddenLayer(mlp)).fit(X, y, 1e9)
    expected = F @ np.linalg.lstsq(F, y, rcond=None)[0]
    assert_allclose(fit.predict(X), expected, atol=1e-6)
    assert np.mean((fit.predict(X) - y) ** 2) <= np.mean((mlp.predict(X) - y) ** 2)


def test_what_comes_from_labels_says_so(data):
    mlp = network().fit(*data)
    assert HiddenLayer(mlp).from_labels
    assert not HiddenLayer(mlp, trained_on_labels=False).from_labels
    assert not Constant().from_labels


def test_copies_share_the_trained_network(data):
    X, y = data
    mlp = network().fit(X, y)
    copy = clone(HiddenLayer(mlp, layer=0))
    assert copy.network is mlp
    assert copy.layer == 0
    assert_array_equal(
        copy.fit(X).transform(X), HiddenLayer(mlp, layer=0).fit(X).transform(X)
    )


def test_refit_trains_a_copy_on_other_rows(data):
    X, y = data
    mlp = network().fit(X, y)
    before = [W.copy() for W in mlp.coefs_]
    again = HiddenLayer(mlp, layer=0).refit(X[:20], y[:20, None])
    expected = network().fit(X[:20], y[:20])
    assert_array_equal(again.network.coefs_[0], expected.coefs_[0])
    assert again.layer == 0
    for W, W_before in zip(mlp.coefs_, before, strict=True):
        assert_array_equal(W, W_before)


def test_refit_of_a_network_without_a_seed_follows_rng(data):
    X, y = data
    pipeline = make_pipeline(StandardScaler(), network().set_params(random_state=None))
    features = HiddenLayer(pipeline.fit(X, y))
    first, same, other = (features.refit(X, y, rng).network[-1] for rng in (0, 0, 1))
    assert_array_equal(first.coefs_[0], same.coefs_[0])
    assert np.abs(first.coefs_[0] - other.coefs_[0]).max() > 1e-3
    assert pipeline[-1].random_state is None


@pytest.mark.parametrize("form", ["labels", "one-hot", "signs", "column"])
def test_refit_of_a_classifier_takes_classes_or_columns(data, form):
    X, y = data
    codes = (y > 0).astype(int) if form == "column" else np.digitize(y, [-0.5, 0.5])
    mlp = network(MLPClassifier).fit(X, codes)
    one_hot = np.eye(3)[codes]
    targets = {
        "labels": np.array(["a", "b", "c"])[codes],
        "one-hot": one_hot,
        "signs": 2 * one_hot - 1,
        "column": np.where(codes == 1, 1.0, -1.0)[:, None],
    }[form]
    again = HiddenLayer(mlp).refit(X, targets)
    assert_allclose(again.network.coefs_[0], mlp.coefs_[0], rtol=1e-10)


def test_labels_that_do_not_exclude_each_other_stay_columns(data):
    X, y = data
    Y = np.column_stack([y > 0, X[:, 2] > 0]).astype(float)
    mlp = network(MLPClassifier).fit(X, Y)
    assert_allclose(HiddenLayer(mlp).refit(X, Y).network.coefs_[0], mlp.coefs_[0])


def test_errors_say_what_to_do(data):
    X, y = data
    with pytest.raises(ValueError, match=r"not trained yet.* Call its fit\(X, y\)"):
        HiddenLayer(MLPRegressor()).fit(X)
    with pytest.raises(ValueError, match=r"Wrap anything else as Features\(function"):
        HiddenLayer(StandardScaler()).fit(X)
    mlp = network().fit(X, y)
    for layer in (2, -3, "relu", 0.5):
        with pytest.raises(ValueError, match=r"the network has 2 hidden layer"):
            HiddenLayer(mlp, layer=layer).fit(X)
    with pytest.raises(ValueError, match="X has 2 columns, but the network was tr"):
        HiddenLayer(mlp).fit(X[:, :2])


def test_what_is_a_network():
    assert is_network(MLPClassifier())
    assert is_network(make_pipeline(StandardScaler(), MLPRegressor()))
    assert is_network(Net())
    assert not is_network(StandardScaler())
    assert not is_network(make_pipeline(StandardScaler()))
    assert not is_network(np.sin)


# A stand-in for torch, of which only what is called is there.


class Tensor:
    def __init__(self, values):
        self.values = values
        self.shape = values.shape

    dtype = property(lambda self: self.values.dtype)
    device = "cpu"

    def to(self, device, dtype):
        assert device == "cpu"
        return Tensor(self.values.astype(dtype))

    def reshape(self, *shape):
        return Tensor(self.values.reshape(*shape))

    def numpy(self):
        return self.values

    def is_floating_point(self):
        return True


class Module:
    training = True

    def __init__(self):
        self.hooks = []

    def children(self):
        return [part for part in vars(self).values() if isinstance(part, Module)]

    def named_modules(self):
        named = {n: part for n, part in vars(self).items() if isinstance(part, Module)}
        return iter([("", self), *named.items()])

    def modules(self):
        return [part for _, part in self.named_modules()]

    def parameters(self):
        return (Tensor(part.W) for part in self.children())

    def eval(self):
        for part in self.modules():
            part.training = False

    def register_forward_hook(self, hook):
        self.hooks.append(hook)
        return types.SimpleNamespace(remove=lambda: self.hooks.remove(hook))

    def __call__(self, x):
        assert not self.training
        out = self.forward(x)
        for hook in self.hooks:
            hook(self, (x,), out)
        return out


Module.__module__ = "torch.nn.modules.module"


class Linear(Module):
    def __init__(self, W):
        super().__init__()
        self.W = W

    def forward(self, x):
        return Tensor(x.values @ self.W)


class Net(Module):
    def __init__(self, dtype=np.float64):
        super().__init__()
        rng = np.random.default_rng(0)
        self.first = Linear(rng.normal(size=(3, 5)).astype(dtype))
        self.second = Linear(rng.normal(size=(5, 2)).astype(dtype))
        self.unused = Linear(rng.normal(size=(3, 3)).astype(dtype))
        self.unused.training = False

    def forward(self, x):
        inner = self.first(x)
        return self.second(Tensor(np.tanh(inner.values)))


class NoGrad:
    inside = 0

    def __enter__(self):
        NoGrad.inside += 1

    def __exit__(self, *error):
        pass


@pytest.fixture
def fake_torch(monkeypatch):
    module = types.SimpleNamespace(
        as_tensor=Tensor, no_grad=NoGrad, float32=np.float32, float64=np.float64
    )
    monkeypatch.setitem(sys.modules, "torch", module)


@pytest.mark.usefixtures("fake_torch")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_module_is_called_in_its_own_dtype(data, dtype):
    X, _ = data
    net, before = Net(dtype), NoGrad.inside
    features = HiddenLayer(net, constant=False).fit(X)
    F = features.transform(X)
    inner = X.astype(dtype) @ net.first.W
    assert F.dtype == np.float64
    assert_array_equal(F, np.tanh(inner) @ net.second.W)
    assert NoGrad.inside > before
    # The modes are those from before, each by itself, and no hook is left.
    assert net.training
    assert net.first.training
    assert not net.unused.training
    assert net.hooks == []
    for layer in ("first", 0, -3):
        F = HiddenLayer(net, layer=layer, constant=False).fit(X).transform(X)
        assert_array_equal(F, inner)
    assert net.first.hooks == []
    assert_allclose(features.transform(sp.csr_array(X)), features.transform(X))


@pytest.mark.usefixtures("fake_torch")
def test_errors_about_modules(data):
    X, y = data
    with pytest.raises(ValueError, match="does not call its layer 'unused'"):
        HiddenLayer(Net(), layer="unused").fit(X)
    with pytest.raises(ValueError, match="one of 'first', 'second', 'unused'"):
        HiddenLayer(Net(), layer="third").fit(X)
    with pytest.raises(ValueError, match="layer is 3, but the module has 3 children"):
        HiddenLayer(Net(), layer=3).fit(X)
    with pytest.raises(TypeError, match="cannot be retrained in folds"):
        HiddenLayer(Net()).refit(X, y)


def test_without_torch_it_says_how_to_get_it(data, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r'pip install "halfmoon\[torch\]"'):
        HiddenLayer(Net()).fit(data[0])


@pytest.mark.slow
def test_a_real_module(data):
    torch = pytest.importorskip("torch")
    X, _ = data
    torch.manual_seed(0)
    net = torch.nn.Sequential(
        torch.nn.Linear(3, 5),
        torch.nn.Tanh(),
        torch.nn.Dropout(),
        torch.nn.Linear(5, 2),
    ).double()
    W, b = (p.detach().numpy() for p in net[0].parameters())
    F = HiddenLayer(net, layer=-2, constant=False).fit(X).transform(X)
    assert_allclose(F, np.tanh(X @ W.T + b), rtol=1e-12)
    whole = HiddenLayer(net, constant=False).fit(X).transform(X)
    head, bias = (p.detach().numpy() for p in net[3].parameters())
    assert_allclose(whole, F @ head.T + bias, rtol=1e-12)
    assert net.training
    assert_allclose(
        HiddenLayer(net.float(), layer="1").fit(X).transform(X)[:, 1:], F, 1e-4
    )

"""The hidden layer of a trained network, unpenalized.

A network is a linear model on learned features, its last hidden layer. Here, these
features are kept, the linear model on them is refitted without a penalty, and a kernel
fits the residuals. Takhanov, Assylbekov, "Conditional KRR", 2026, remark H.1.

A network that was trained on the labels has seen them: with such features, an error of
.011 by leave-one-out was .081 on test rows. So leave-one-out must choose nothing here.
Cross-validation retrains the network on the rows of each fold (`HiddenLayer.refit`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.special import expit
from sklearn.base import clone, is_classifier
from sklearn.pipeline import Pipeline

from halfmoon._rows import Array, Rows, as_dense_rows, as_rows, as_table
from halfmoon.blocks import Stream
from halfmoon.unpenalized._base import Unpenalized

__all__ = ["HiddenLayer", "is_network", "is_torch_module", "module_output"]

TORCH_ROWS = 4_096  # sent through a module at once

#: Activations by their names in scikit-learn.
ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "identity": lambda u: u,
    "logistic": expit,
    "tanh": np.tanh,
    "relu": lambda u: np.maximum(u, 0.0),
}


@dataclass(eq=False, repr=False)
class HiddenLayer(Unpenalized):
    """Activations of a hidden layer of a trained network, as columns.

    Parameters
    ----------
    network : MLPClassifier, MLPRegressor, Pipeline or torch.nn.Module
        A trained network; fitting the features does not train it. A pipeline must end
        in one of scikit-learn's networks.
    layer : int or str
        For scikit-learn: the number of the hidden layer, from 0, or -1 for the last.
        For torch: -1 is the output of the module itself, for example of a module
        without its head. Another number is a position in ``module.children()``, and a
        string a name in ``named_modules()``.
    constant : bool
        Add the constant 1 as the first column.
    trained_on_labels : bool
        Whether the network has seen the labels of these rows. False if it was trained
        on other data, or without labels.

    Attributes
    ----------
    from_labels : bool
        The same as `trained_on_labels`.

    Examples
    --------
    >>> from sklearn.neural_network import MLPRegressor
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 1.0, 4.0])
    >>> network = MLPRegressor(random_state=0, solver="lbfgs").fit(X, y)
    >>> features = HiddenLayer(network, constant=False).fit(X)
    >>> values = features.transform(X) @ network.coefs_[-1] + network.intercepts_[-1]
    >>> np.allclose(values.ravel(), network.predict(X))
    True
    """

    network: Any
    layer: int | str = -1
    constant: bool = True
    trained_on_labels: bool = True

    @property
    def from_labels(self) -> bool:  # type: ignore[override]
        return self.trained_on_labels

    def fit(self, X: Rows, rng: np.random.Generator | int | None = None) -> Self:
        """Check the network and name its features; nothing is trained."""
        X = as_table(X)
        k = self._values(X[:1]).shape[1]
        self._set_names([f"unit {j}" for j in range(k)])
        return self

    def transform(self, X: Rows) -> Array:
        """Return the activations, shape (b, k), after a constant if there is one."""
        X = as_table(X)
        values = self._values(X)
        if not np.isfinite(values).all():
            raise ValueError(
                "The hidden layer has NaN or infinite activations; finite numbers are "
                "needed. Scale the columns of X as they were when the network was "
                "trained, or retrain it."
            )
        return self._after_constant(values)

    def refit(
        self,
        X: Rows,  # (l, d), labeled
        y: Any,  # (l,) or (l, t)
        rng: np.random.Generator | int | None = None,
    ) -> HiddenLayer:
        """Return the same layer of a copy of the network, retrained on these rows.

        For cross-validation. A network without a random state gets one from `rng`. The
        targets of a classifier are its classes, or one column for each class.
        """
        if is_torch_module(self.network):
            raise TypeError(
                "A torch module has no method to train it, so it cannot be retrained "
                "in folds. Use a network of scikit-learn, train the module on other "
                "rows and set trained_on_labels=False, or choose by a test set."
            )
        network = clone(self.network)
        last = network[-1] if isinstance(network, Pipeline) else network
        if last.random_state is None:
            seed = int(np.random.default_rng(rng).integers(2**31))
            last.set_params(random_state=seed)
        return replace(self, network=network.fit(X, _for_network(last, y)))

    def __sklearn_clone__(self) -> HiddenLayer:
        """Copy the features and share the network, which cloning would untrain."""
        return replace(self)

    def _values(self, X: Rows) -> Array:
        network, layer = self.network, self.layer
        if is_torch_module(network):
            return Stream(block_rows=TORCH_ROWS, n_jobs=1).map(
                lambda rows: module_output(network, as_dense_rows(rows), layer),
                X,
                row_bytes=1,  # unused: block_rows is given
            )
        if isinstance(network, Pipeline):
            X = network[:-1].transform(X) if len(network) > 1 else X
            network = network[-1]
        weights, biases, activation = _layers(network, layer)
        widest = max(len(b) for b in biases)
        return Stream.inherited().map(
            lambda rows: _forward(rows, weights, biases, activation),
            as_table(X),
            row_bytes=8 * (X.shape[1] + 3 * widest),
        )


def is_network(network: Any) -> bool:
    """Return whether `HiddenLayer` can use this network, trained or not."""
    if isinstance(network, Pipeline):
        network = network.steps[-1][1]
    return hasattr(network, "hidden_layer_sizes") or is_torch_module(network)


def _for_network(network: Any, y: Any) -> Any:
    """Return targets in the form of the network: class numbers, or a vector."""
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if not is_classifier(network):
        return y
    if y.ndim == 2:
        largest = y == y.max(axis=1, keepdims=True)
        # One column for each class. Rows with several classes are multilabel targets,
        # which the network accepts in this form.
        return y.argmax(axis=1) if (largest.sum(axis=1) == 1).all() else y
    return np.unique(y, return_inverse=True)[1]


def _layers(
    network: Any, layer: int | str
) -> tuple[list[Array], list[Array], Callable[[Array], Array]]:
    """Return the weights and biases up to the layer, and the activation."""
    if not is_network(network):
        raise ValueError(
            f"network is {network!r}; MLPClassifier or MLPRegressor of scikit-learn, a "
            f"pipeline that ends in one, or a torch.nn.Module is needed. Wrap anything "
            f"else as Features(function), with a function of the rows."
        )
    if not hasattr(network, "coefs_"):
        raise ValueError(
            f"{network!r} is not trained yet; a trained network is needed. Call its "
            f"fit(X, y) with the labeled rows first."
        )
    hidden = len(network.coefs_) - 1
    if (
        isinstance(layer, (str, bool))
        or layer != int(layer)
        or not -hidden <= layer < hidden
    ):
        raise ValueError(
            f"layer is {layer!r}, and the network has {hidden} hidden layer(s), "
            f"numbered from 0, or from -1 backwards."
        )
    depth = int(layer) % hidden + 1
    weights = [np.asarray(W, dtype=np.float64) for W in network.coefs_[:depth]]
    biases = [np.asarray(b, dtype=np.float64) for b in network.intercepts_[:depth]]
    return weights, biases, ACTIVATIONS[network.activation]


def _forward(
    X: Rows,
    weights: list[Array],
    biases: list[Array],
    activation: Callable[[Array], Array],
) -> Array:
    """Return sigma(... sigma(X W_0 + b_0) ... W_m + b_m)."""
    X = as_rows(X)
    if X.shape[1] != len(weights[0]):
        raise ValueError(
            f"X has {X.shape[1]} columns, but the network was trained on "
            f"{len(weights[0])}; the same columns are needed."
        )
    for W, b in zip(weights, biases, strict=True):
        X = activation(np.asarray(X @ W) + b)
    return np.asarray(X)


# A hook sees every call of a submodule, and several threads may call it.
_one_at_a_time = threading.Lock()


def is_torch_module(network: Any) -> bool:
    """Return whether it is a torch.nn.Module, without importing torch."""
    return any(
        base.__name__ == "Module" and base.__module__.startswith("torch.nn")
        for base in type(network).__mro__
    )


def module_output(module: Any, X: Array, layer: int | str = -1) -> Array:  # (b, k)
    """Return the output of a module, or of a submodule, in evaluation mode.

    It is called in the dtype and on the device of its parameters (float32 on the CPU if
    it has none), without gradients, and its mode is restored. The layer -1 is the
    module itself; another is a submodule, by position or by name.
    """
    try:
        import torch
    except ImportError as error:
        raise ImportError(
            "The network is a torch module, but torch cannot be imported. Install it "
            'with: pip install "halfmoon[torch]"'
        ) from error
    like = next((p for p in module.parameters() if p.is_floating_point()), None)
    dtype = torch.float32 if like is None else like.dtype
    rows = torch.as_tensor(np.ascontiguousarray(X)).to(
        device="cpu" if like is None else like.device, dtype=dtype
    )
    part = _submodule(module, layer)
    with _one_at_a_time:
        seen: list[Any] = []
        modes = [(each, each.training) for each in module.modules()]
        hook = part.register_forward_hook(lambda *call: seen.append(call[2]))
        try:
            module.eval()
            with torch.no_grad():
                module(rows)
        finally:
            hook.remove()
            for each, mode in modes:
                each.training = mode
    if not seen:
        raise ValueError(
            f"The module does not call its layer {layer!r}, so this layer has no "
            f"output. Name a layer that the module uses."
        )
    out = seen[-1]
    if not hasattr(out, "reshape") or out.shape[0] != X.shape[0]:
        raise ValueError(
            f"Layer {layer!r} returns {type(out).__name__}; one tensor with a row for "
            f"each of the {X.shape[0]} rows is needed. Name another layer, or wrap the "
            f"module in one that returns such a tensor."
        )
    values = out.reshape(X.shape[0], -1).to(device="cpu", dtype=torch.float64)
    return np.asarray(values.numpy(), dtype=np.float64)


def _submodule(module: Any, layer: int | str) -> Any:
    if isinstance(layer, str):
        named = dict(module.named_modules())
        if layer not in named:
            known = ", ".join(repr(name) for name in named if name)
            raise ValueError(
                f"layer is {layer!r}, which the module does not have; one of {known} "
                f"is needed."
            )
        return named[layer]
    if layer == -1:
        return module
    children = list(module.children())
    if not -len(children) <= layer < len(children):
        raise ValueError(
            f"layer is {layer}, but the module has {len(children)} children, numbered "
            f"from 0, or from -2 backwards (-1 is the output of the module itself)."
        )
    return children[layer]

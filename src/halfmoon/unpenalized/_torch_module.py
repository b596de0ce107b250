"""Outputs of a torch module as NumPy arrays. Torch is imported only here."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from halfmoon._rows import Array

__all__ = ["is_torch_module", "module_output"]

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

"""Values of a torch module at rows, as NumPy arrays. Torch is imported here only."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from halfmoon.rows import Array

__all__ = ["is_torch_module", "module_output"]

# A hook on a submodule sees every call of it, and blocks of rows come from several
# threads.
_one_at_a_time = threading.Lock()


def is_torch_module(network: Any) -> bool:
    """Whether it is a torch.nn.Module, without importing torch to find out."""
    return any(
        base.__name__ == "Module" and base.__module__.startswith("torch.nn")
        for base in type(network).__mro__
    )


def module_output(module: Any, X: Array, layer: int | str = -1) -> Array:  # (b, k)
    """Output of a module, or of a submodule within it, in evaluation mode.

    Parameters
    ----------
    module : torch.nn.Module
        Called on the rows in its own dtype and on its own device (float32 on the CPU
        where it has no parameters), without gradients; left in the mode it was in.
    X : ndarray of shape (b, d)
    layer : int or str
        -1 is the module itself; else a submodule, by its place among the children or
        by its name.
    """
    try:
        import torch
    except ImportError as error:
        raise ImportError(
            "The network is a torch module, and torch cannot be imported. Install it "
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
            f"The module does not call its layer {layer!r}, so there is no output of "
            f"it. Name a layer that the module uses."
        )
    out = seen[-1]
    if not hasattr(out, "reshape") or out.shape[0] != X.shape[0]:
        raise ValueError(
            f"Layer {layer!r} gives {type(out).__name__}, not one tensor with a row "
            f"for each of the {X.shape[0]} rows. Name another layer, or wrap the "
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
                f"layer is {layer!r}, which the module does not have; it has {known}."
            )
        return named[layer]
    if layer == -1:
        return module
    children = list(module.children())
    if not -len(children) <= layer < len(children):
        raise ValueError(
            f"layer is {layer}, and the module has {len(children)} children, numbered "
            f"from 0, or from -2 backwards (-1 is the output of the module itself)."
        )
    return children[layer]

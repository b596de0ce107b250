"""Support for scikit-learn's callbacks, which need version 1.9.

``model.set_callbacks(sklearn.callback.ProgressBar())`` shows the progress of a fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

__all__ = ["CallbackSupport", "announced", "with_callbacks"]

Method = TypeVar("Method", bound=Callable[..., Any])
Item = TypeVar("Item")

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupport
    from sklearn.callback import with_callbacks
except ImportError:  # an older scikit-learn

    class CallbackSupport:  # type: ignore[no-redef]
        """Stands in for the mixin of scikit-learn 1.9; does nothing."""

    def with_callbacks(method: Method) -> Method:
        """Return the method unchanged."""
        return method


def announced(estimator: Any, items: Iterable[Item]) -> Iterator[Item]:
    """Yield the items of a fit, and tell the callbacks when each begins and ends."""
    if not hasattr(estimator, "_init_callback_context"):
        yield from items
        return
    root = estimator._init_callback_context(max_subtasks=None)
    root.call_on_fit_task_begin(estimator=estimator)
    for item in items:
        task = root.subcontext(task_name=getattr(item, "name", ""))
        task.call_on_fit_task_begin(estimator=estimator)
        yield item
        task.call_on_fit_task_end(estimator=estimator)
    root.call_on_fit_task_end(estimator=estimator)

"""scikit-learn's callbacks (1.9 and later), and nothing where there are none.

``model.set_callbacks(sklearn.callback.ProgressBar())`` shows how far a fit has come.
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
        """Without callbacks."""

    def with_callbacks(method: Method) -> Method:
        """The method as it is."""
        return method


def announced(estimator: Any, items: Iterable[Item]) -> Iterator[Item]:
    """The items of a fit, each announced to the callbacks when it begins and ends."""
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

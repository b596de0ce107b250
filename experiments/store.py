"""Results on disk: a JSON file for each experiment, a line for each cell."""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn

from experiments.experiment import Run

__all__ = ["COMMITTED", "Store", "key"]

#: The results that are part of the project.
COMMITTED = Path(__file__).parent / "results"


def key(cell: dict[str, Any]) -> str:
    """What a cell is known by."""
    return json.dumps(cell, sort_keys=True)


class Store:
    """The runs of experiments, in the folder `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(self, name: str) -> dict[str, Run]:
        """The runs kept so far, by the key of their cell."""
        path = self.folder / f"{name}.json"
        if not path.exists():
            return {}
        runs = [Run(**line) for line in json.loads(path.read_text())["runs"]]
        return {key(run.cell): run for run in runs}

    def write(self, name: str, runs: dict[str, Run]) -> None:
        """Keep these runs; whoever is stopped meanwhile leaves the file whole."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{name}.json"
        lines = ",\n".join(
            json.dumps(
                {"cell": run.cell, "seconds": run.seconds, "result": _plain(run.result)}
            )
            for run in runs.values()
        )
        head = json.dumps({"experiment": name, "machine": _machine()}, indent=1)
        new = path.with_suffix(".json.new")
        new.write_text(f'{head[:-2]},\n "runs": [\n{lines}\n]}}\n')
        os.replace(new, path)


def _plain(value: Any) -> Any:
    """Arrays as lists, and numbers at the six digits that anyone will read."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, float | np.floating):
        return float(f"{float(value):.6g}")
    if isinstance(value, np.integer):
        return int(value)
    return value


def _machine() -> dict[str, str]:
    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
    }

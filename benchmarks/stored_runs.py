"""Runs of a benchmark, stored as they end, so that a stopped benchmark continues."""

import json
import os
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


class StoredRuns:
    """Runs in ``results/NAME.json``, one per line, each known by some of its values."""

    def __init__(self, name, keys):
        self.path, self.keys = RESULTS / f"{name}.json", keys

    @property
    def runs(self):
        return json.loads(self.path.read_text()) if self.path.exists() else []

    def key(self, run):
        return tuple(run[name] for name in self.keys)

    def __contains__(self, about):
        return self.key(about) in map(self.key, self.runs)

    def add(self, run):
        """Add a run to the file, which is never incomplete."""
        lines = ",\n".join(json.dumps(each) for each in [*self.runs, run])
        new = self.path.with_suffix(".json.new")
        new.write_text(f"[\n{lines}\n]\n")
        os.replace(new, self.path)

    def write_page(self, lines):
        """Write the page of the results, and print it."""
        text = "\n".join(lines) + "\n"
        self.path.with_suffix(".md").write_text(text)
        print(text)

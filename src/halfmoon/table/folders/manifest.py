"""How far a run over a folder has come, so that a killed one can go on.

In the folder of the outputs stands a folder ``_halfmoon``, which other programs take
for no table:

==================  ==========================================================
``manifest.json``   what was asked for, the inputs with their digests, the digests
                    of the models; written when the models are there
``model-1``, ...    the models, one for each target
``done/``           what came of each file, written when its output is in place
==================  ==========================================================

Each of them appears whole or not at all. A run goes on only with the same options, the
same inputs and the same models; so no output mixes two models.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from shutil import rmtree
from typing import Any

from halfmoon.atomic_files import leftovers
from halfmoon.model_files import ModelFileError, load, save
from halfmoon.table.errors import OutputError, ReadError
from halfmoon.table.files.atomic import replacing
from halfmoon.table.folders.listing import FolderFile
from halfmoon.table.folders.outcomes import Outcome
from halfmoon.table.model import TableModel

__all__ = ["FOLDER", "Manifest", "inputs_of", "refuse_full"]

FOLDER = "_halfmoon"
VERSION = 1


def inputs_of(files: Sequence[FolderFile]) -> list[dict[str, Any]]:
    """Name, size, time and digest of each file."""
    found = []
    for file in files:
        try:
            seen = file.path.stat()
            with file.path.open("rb") as stream:
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
        except OSError as error:
            raise ReadError(
                f"{file.path} cannot be read: {error.strerror or error}."
            ) from error
        found.append({"name": file.name, "size": seen.st_size, "sha256": digest})
    return found


def refuse_full(out: Path, overwrite: bool) -> None:
    """Refuse a folder with files in it, unless they may be replaced."""
    if not out.exists() or overwrite:
        return
    if any(out.iterdir()):
        more = " go on with the run that was stopped there (--resume)," * (
            (out / FOLDER).exists()
        )
        raise OutputError(
            f"{out} is not empty. Give another folder,{more} or overwrite what is in "
            f"it (--overwrite)."
        )


@dataclass
class Manifest:
    """A run over a folder.

    Attributes
    ----------
    out : Path
        The folder of the outputs.
    asked : dict
        Everything that the outputs depend on beside the inputs.
    inputs : list of dict
        Of `inputs_of`.
    models : list of str
        Digests of the model files.
    """

    out: Path
    asked: dict[str, Any]
    inputs: list[dict[str, Any]]
    models: list[str] = field(default_factory=list)

    @property
    def digest(self) -> str:
        """Of all inputs."""
        lines = "".join(f"{x['sha256']}  {x['name']}\n" for x in self.inputs)
        return hashlib.sha256(lines.encode()).hexdigest()

    def begin(self, models: Sequence[TableModel]) -> list[TableModel]:
        """Keep the models, then note that a run has begun; the models as kept.

        What predicts is what was read from the file, here as after a stop.
        """
        place = self.out / FOLDER
        rmtree(place, ignore_errors=True)
        (place / "done").mkdir(parents=True)
        for number, model in enumerate(models, start=1):
            save(model, place / f"model-{number}", overwrite=True)
        self.models = [_digest(self._model(i)) for i in range(len(models))]
        told = {"version": VERSION, **asdict(self), "out": str(self.out)}
        _write(place / "manifest.json", told)
        return self.kept_models()

    def resume(self) -> list[TableModel] | None:
        """Check that a run was begun like this, and give its models.

        None if it was stopped before it had any, so that nothing is written yet.
        """
        place = self.out / FOLDER / "manifest.json"
        if not place.exists() and not self._has_outputs():
            return None
        try:
            told = json.loads(place.read_text(encoding="utf-8"))
            if told["version"] != VERSION:
                raise ValueError("another version")
            asked, inputs, self.models = told["asked"], told["inputs"], told["models"]
        except FileNotFoundError as error:
            raise OutputError(
                f"{self.out} holds files, but no run to go on with: "
                f"{FOLDER}/manifest.json is missing. Run again with --overwrite "
                f"instead of --resume, or give another folder."
            ) from error
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise OutputError(
                f"{place} is damaged. Run again with --overwrite instead of --resume."
            ) from error
        self._refuse_other_options(asked)
        self._refuse_other_inputs(inputs)
        for folder in {(self.out / x["name"]).parent for x in self.inputs}:
            for path in leftovers(folder)[1]:
                path.unlink(missing_ok=True)
        return self.kept_models()

    def _has_outputs(self) -> bool:
        return self.out.exists() and any(x.name != FOLDER for x in self.out.iterdir())

    def kept_models(self) -> list[TableModel]:
        """The models that were kept, if they are those."""
        found = []
        for i, digest in enumerate(self.models):
            path = self._model(i)
            try:
                if _digest(path) != digest:
                    raise ValueError("It is another one.")
                found.append(load(path))
            except (OSError, ValueError, ModelFileError) as error:
                raise OutputError(
                    f"{path} is not the model that this run began with. Run again "
                    f"with --overwrite instead of --resume."
                ) from error
        return found

    def note(self, number: int, outcome: Outcome) -> None:
        """Note what came of a file, once its output is in place."""
        _write(self._done(number), {"models": self.models, **asdict(outcome)})

    def done(self) -> dict[int, Outcome]:
        """What came of the files whose output is in place, by their numbers."""
        found = {}
        for number, given in enumerate(self.inputs):
            try:
                told = json.loads(self._done(number).read_text(encoding="utf-8"))
                same = told.pop("models") == self.models
                outcome = Outcome(**told)
                size = (self.out / given["name"]).stat().st_size
            except (OSError, ValueError, TypeError, KeyError):
                continue  # it is done again
            if same and outcome.name == given["name"] and outcome.size == size:
                found[number] = outcome
        return found

    def _model(self, i: int) -> Path:
        return self.out / FOLDER / f"model-{i + 1}"

    def _done(self, number: int) -> Path:
        return self.out / FOLDER / "done" / f"{number:06}.json"

    def _refuse_other_options(self, asked: Mapping[str, Any]) -> None:
        ours = json.loads(json.dumps(self.asked))
        for name in {**asked, **ours}:
            if asked.get(name) != ours.get(name):
                raise OutputError(
                    f"The run in {self.out} began with {name} {_shown(asked, name)}, "
                    f"and this one has {_shown(ours, name)}. Give the same options, or "
                    f"begin anew with --overwrite instead of --resume."
                )

    def _refuse_other_inputs(self, inputs: Sequence[Mapping[str, Any]]) -> None:
        before = {x["name"]: x["sha256"] for x in inputs}
        now = {x["name"]: x["sha256"] for x in self.inputs}
        for name in {**before, **now}:
            if before.get(name) != now.get(name):
                what = "changed"
                what = "is new" if name not in before else what
                what = "is gone" if name not in now else what
                raise OutputError(
                    f"{name} {what} since the run in {self.out} began. Begin anew with "
                    f"--overwrite instead of --resume."
                )


def _shown(asked: Mapping[str, Any], name: str) -> str:
    value = asked.get(name)
    return repr(value) if value not in (None, [], "") else "not given"


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _write(path: Path, told: Mapping[str, Any]) -> None:
    with replacing(os.fspath(path), overwrite=True) as file:
        file.write(json.dumps(told, ensure_ascii=False, indent=1).encode())

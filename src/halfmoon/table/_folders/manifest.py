"""The state of a run over a folder, so that a killed run can continue.

The output folder has a subfolder ``_halfmoon``, which other programs skip:

==================  ==========================================================
``manifest.json``   the options, the inputs and the models with their digests;
                    written after the models
``model-1``, ...    the models, one for each target
``done/``           what came of each file, written after its output
==================  ==========================================================

Each file appears whole or not at all, and the records hold their own digests. A run
continues only with the same options, inputs and models, so no output mixes two models.
A running process locks the output folder.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import Any, Self

from halfmoon._atomic_files import leftovers, lock_file
from halfmoon._model_files import ModelFileError, load, save
from halfmoon.table._files.writing import replacing
from halfmoon.table._folders.folder_table import FolderFile
from halfmoon.table._folders.one_file import FileOutcome
from halfmoon.table._models.table_model import TableModel
from halfmoon.table._table_errors import OutputError, ReadError

__all__ = ["FOLDER", "Manifest", "inputs_of", "locked_folder", "refuse_nonempty"]

FOLDER = "_halfmoon"
VERSION = 3


def inputs_of(files: Sequence[FolderFile]) -> list[dict[str, Any]]:
    """Return the name, size and digest of each file."""
    found = []
    for file in files:
        try:
            size, digest = file.path.stat().st_size, _digest(file.path)
        except OSError as error:
            raise ReadError(
                f"{file.path} cannot be read: {error.strerror or error}."
            ) from error
        found.append({"name": file.name, "size": size, "sha256": digest})
    return found


def refuse_nonempty(out: Path, overwrite: bool) -> None:
    """Refuse an output folder that is not empty, unless it may be overwritten."""
    if not out.exists() or overwrite:
        return
    if any(out.iterdir()):
        can_resume = (out / FOLDER).exists()
        more = " continue the run that was stopped there (`resume=True`)," * can_resume
        raise OutputError(
            f"{out} is not empty. Give another folder,{more} or overwrite its files "
            f"(`overwrite=True`)."
        )


@dataclass
class Manifest:
    """The state of a run over a folder."""

    out: Path  # the output folder
    asked: dict[str, Any]  # all that the outputs depend on, except for the inputs
    inputs: list[dict[str, Any]]  # from `inputs_of`
    models: list[str] = field(default_factory=list)  # digests of the model files

    def __post_init__(self) -> None:
        self._lock = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.close()

    @property
    def digest(self) -> str:
        """Digest of all inputs."""
        lines = "".join(f"{x['sha256']}  {x['name']}\n" for x in self.inputs)
        return hashlib.sha256(lines.encode()).hexdigest()

    def begin(self, models: Sequence[TableModel], overwrite: bool) -> list[TableModel]:
        """Save the models and the manifest of a new run; return the models as saved.

        A new and a continued run thus predict with the same model. If files must not be
        overwritten, those that appeared since the run started are not either.
        """
        folder = self.out / FOLDER
        self._claim()
        if self._has_outputs():
            refuse_nonempty(self.out, overwrite)
        rmtree(folder, ignore_errors=True)
        self._remove_leftovers()
        _make_folder(folder / "done")
        for i, model in enumerate(models):
            _save(model, self._model_path(i))
        self.models = [_digest(self._model_path(i)) for i in range(len(models))]
        record = {"version": VERSION, **asdict(self), "out": str(self.out)}
        _write(folder / "manifest.json", record)
        return self.load_models()

    def resume(
        self, models: Sequence[TableModel] | None = None
    ) -> list[TableModel] | None:
        """Check that a stopped run began like this one; return its models.

        Return None if the run was stopped before it had models and outputs. The user
        has given the `models`, or they are learned from the inputs.
        """
        if self.out.exists():
            self._claim()
        path = self.out / FOLDER / "manifest.json"
        if not path.exists() and not self._has_outputs():
            return None
        try:
            record = _read(path)
            if record["version"] != VERSION:
                raise ValueError("another version")
            asked, inputs = record["asked"], record["inputs"]
            self.models = record["models"]
        except FileNotFoundError as error:
            raise OutputError(
                f"{self.out} holds files, but no run to continue: "
                f"{FOLDER}/manifest.json is missing. Run again with `overwrite=True` "
                f"instead of `resume=True`, or give another folder."
            ) from error
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise OutputError(
                f"{path} is damaged. Run again with `overwrite=True` instead of "
                f"`resume=True`."
            ) from error
        self._refuse_changed_options(asked)
        self._refuse_changed_inputs(inputs)
        if models is not None:
            self._refuse_other_models(models)
        self._remove_leftovers()
        return self.load_models()

    def _claim(self) -> None:
        """Lock the output folder until the run ends."""
        self._lock.close()
        _make_folder(self.out)
        self._lock.enter_context(locked_folder(self.out))

    def _remove_leftovers(self) -> None:
        """Remove hidden files that killed runs left among the outputs."""
        for folder in {(self.out / x["name"]).parent for x in self.inputs}:
            for path in leftovers(folder)[1]:
                path.unlink(missing_ok=True)

    def _has_outputs(self) -> bool:
        return self.out.exists() and any(x.name != FOLDER for x in self.out.iterdir())

    def load_models(self) -> list[TableModel]:
        """Load the models, and check that they are those of this run."""
        found = []
        for i, digest in enumerate(self.models):
            path = self._model_path(i)
            try:
                if _digest(path) != digest:
                    raise ValueError("another model")
                found.append(load(path))
            except (OSError, ValueError, ModelFileError) as error:
                raise OutputError(
                    f"{path} is not the model that this run began with. Run again "
                    f"with `overwrite=True` instead of `resume=True`."
                ) from error
        return found

    def record_done(self, number: int, outcome: FileOutcome) -> None:
        """Store what came of a file, after its output is written."""
        _write(self._done_path(number), {"models": self.models, **asdict(outcome)})

    def done(self) -> dict[int, FileOutcome]:
        """Return what came of the files that are already written, by their numbers."""
        found = {}
        for number, given in enumerate(self.inputs):
            try:
                record = _read(self._done_path(number))
                is_same_model = record.pop("models") == self.models
                outcome = FileOutcome(**record)
                size = (self.out / given["name"]).stat().st_size
            except (OSError, ValueError, TypeError, KeyError):
                continue  # the file is filled again
            is_same_file = (outcome.name, outcome.size) == (given["name"], size)
            if is_same_model and is_same_file:
                found[number] = outcome
        return found

    def _model_path(self, i: int) -> Path:
        return self.out / FOLDER / f"model-{i + 1}"

    def _done_path(self, number: int) -> Path:
        return self.out / FOLDER / "done" / f"{number:06}.json"

    def _refuse_changed_options(self, asked: Mapping[str, Any]) -> None:
        now = json.loads(json.dumps(self.asked))
        for name in {**asked, **now}:
            if asked.get(name) != now.get(name):
                raise OutputError(
                    f"The run in {self.out} began with {name} {_shown(asked, name)}, "
                    f"but now it is {_shown(now, name)}. Give the same options, or "
                    f"start over with `overwrite=True` instead of `resume=True`."
                )

    def _refuse_other_models(self, models: Sequence[TableModel]) -> None:
        with TemporaryDirectory(prefix="halfmoon-") as place:
            path = Path(place, "model")
            for model, digest in zip(models, self.models, strict=True):
                save(model, path, overwrite=True)
                if _digest(path) != digest:
                    raise OutputError(
                        f"The run in {self.out} began with another model. Give the "
                        f"same model, or start over with `overwrite=True` instead of "
                        f"`resume=True`."
                    )

    def _refuse_changed_inputs(self, inputs: Sequence[Mapping[str, Any]]) -> None:
        before, now = (
            {x["name"]: x["sha256"] for x in some} for some in (inputs, self.inputs)
        )
        for name in {**before, **now}:
            if before.get(name) != now.get(name):
                what = "changed" if name in now else "is gone"
                what = what if name in before else "is new"
                raise OutputError(
                    f"{name} {what} since the run in {self.out} began. Start over with "
                    f"`overwrite=True` instead of `resume=True`."
                )


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Lock a folder while the block runs; refuse one that another run has locked."""
    if os.name == "nt":  # Windows does not open folders
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        if not lock_file(handle):
            raise OutputError(
                f"Another run is writing to {folder}. Wait until it ends, or give "
                f"another folder."
            )
        yield
    finally:
        os.close(handle)


def _save(model: TableModel, path: Path) -> None:
    try:
        save(model, path, overwrite=True)
    except OSError as error:
        raise OutputError(
            f"{path} cannot be written: {error.strerror or error}."
        ) from error


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"{path} cannot be created: {error.strerror or error}. Give another folder "
            f"to the output."
        ) from error


def _shown(asked: Mapping[str, Any], name: str) -> str:
    value = asked.get(name)
    return repr(value) if value not in (None, [], "") else "not given"


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _write(path: Path, record: Mapping[str, Any]) -> None:
    record = {**record, "sha256": _record_digest(record)}
    with replacing(os.fspath(path), overwrite=True) as file:
        file.write(json.dumps(record, ensure_ascii=False, indent=1).encode())


def _read(path: Path) -> dict[str, Any]:
    """Return a record that `_write` wrote; raise `ValueError` if it is another one."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except RecursionError as error:
        raise ValueError("brackets are nested too deeply") from error
    if not isinstance(record, dict) or record.pop("sha256", "") != _record_digest(
        record
    ):
        raise ValueError("the record was changed")
    return record


def _record_digest(record: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(record).encode()).hexdigest()

"""What ``halfmoon label`` does once its arguments are read."""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import sys
import tempfile
import webbrowser
from pathlib import Path
from types import FrameType
from typing import Any
from urllib.parse import quote

import click

from halfmoon.cli.chosen import Chosen
from halfmoon.cli.filling import asked_task
from halfmoon.cli.places import filled_beside, labels_beside
from halfmoon.cli.summary import say_line
from halfmoon.label.background import Background
from halfmoon.label.journal import Journal
from halfmoon.label.labeling import Labeling
from halfmoon.report.wording import count
from halfmoon.table.errors import CommandError, OutputError
from halfmoon.table.files import refuse_place
from halfmoon.table.selection import existing
from halfmoon.table.settings import Settings

__all__ = ["run_label"]

EVERYWHERE = ("0.0.0.0", "::", "")
GRACE = 2  # seconds that open requests have to end


def run_label(
    chosen: Chosen,
    *,
    target: str | None,
    classes: str | None,
    person: str | None,
    no_browser: bool,
    port: int,
    host: str,
    **asked: Any,
) -> None:
    """Serve the page until it is stopped.

    Parameters
    ----------
    chosen : Chosen
    target, classes, person, no_browser, port, host
        Options of the command.
    **asked
        Fields of `Settings`.
    """
    _need_extra()
    asked["task"] = asked_task(asked["task"], asked["order"])
    named = [each.strip() for each in (classes or "").split(",") if each.strip()]
    if named and asked["task"] == "numbers":
        raise CommandError(
            "--classes and --task numbers contradict each other. Leave out one of them."
        )
    place = Path(chosen.output or labels_beside(Path(chosen.file)))
    with chosen.bars() as bars, chosen.table() as table:
        if target is None:
            raise CommandError(
                "Which column should be labeled? Use --target COLUMN. The columns are "
                f"{', '.join(map(repr, table.columns))}."
            )
        existing(target, table.columns, "target")
        if not place.exists():
            refuse_place(str(place), False, [chosen.file])
        settings = Settings(target=target, **asked)
        journal = Journal(place)
        labeling = Labeling(table, settings, journal, named, bars)
        bars.finish()
    with journal, tempfile.TemporaryDirectory(prefix="halfmoon-") as folder:
        _serve(chosen, labeling, person or "", no_browser, host, port, Path(folder))


def _need_extra() -> None:
    for name in ("starlette", "uvicorn"):
        try:
            __import__(name)
        except ModuleNotFoundError:
            raise CommandError(
                f"The labeling page needs {name}, which is not installed. Run: pip "
                f'install "halfmoon[label]"'
            ) from None


def _serve(
    chosen: Chosen,
    labeling: Labeling,
    person: str,
    no_browser: bool,
    host: str,
    port: int,
    folder: Path,
) -> None:
    import uvicorn

    from halfmoon.label.guard import Guard
    from halfmoon.label.server import Site

    listening = _listening(host, port)
    port = listening.getsockname()[1]
    token = secrets.token_urlsafe(24)
    shown = "127.0.0.1" if host in EVERYWHERE else host
    address = f"http://{_in_brackets(shown)}:{port}/?token={token}"
    if person:
        address += f"&as={quote(person)}"
    background = Background(labeling)
    name = filled_beside(Path(chosen.file)).name
    site = Site(labeling, background, chosen.table, folder, name, person)
    guard = Guard(site.app(), _own_hosts(host, port), token, port)
    server = uvicorn.Server(
        uvicorn.Config(
            guard,
            log_level="warning",
            access_log=False,
            lifespan="off",
            server_header=False,
            date_header=False,
            timeout_graceful_shutdown=GRACE,
        )
    )
    stopped = _Stopped(server, site)
    background.start()
    _say_hello(chosen, labeling, address)
    if not no_browser:
        webbrowser.open(address)
    server.run(sockets=[listening])
    background.stop()
    labeling.journal.close()
    answers = count(len(labeling.answers), "answer")
    _end(chosen, f"Stopped. {answers} in {labeling.journal.path}.", stopped, background)


def _say_hello(chosen: Chosen, labeling: Labeling, address: str) -> None:
    if chosen.as_json:
        told = {"status": "serving", "address": address}
        click.echo(json.dumps(told | {"labels": str(labeling.journal.path)}))
        sys.stdout.flush()
        return
    for note in labeling.kept.notes:
        if not chosen.quiet:
            say_line(f"Note: {note}")
    click.echo(address)
    if not chosen.quiet:
        say_line(
            f"Answers go to {labeling.journal.path}; the table is never changed. Press "
            f"Ctrl-C to stop."
        )
    sys.stdout.flush()


class _Stopped:
    """Ctrl-C and the like end the server in good order; twice, at once."""

    def __init__(self, server: Any, site: Any) -> None:
        self.server, self.site, self.by = server, site, 0
        # The server's own way would end the process before the last line is said.
        server.install_signal_handlers = lambda: None
        server.capture_signals = _no_signals
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._stop)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        if self.by:
            os._exit(128 + number)
        self.by = number
        self.server.should_exit = True
        self.site.stop()


class _no_signals:  # noqa: N801 - stands for a function
    def __enter__(self) -> None:
        """Nothing is caught."""

    def __exit__(self, *_: object) -> None:
        """Nothing is passed on."""


def _end(chosen: Chosen, line: str, stopped: _Stopped, background: Background) -> None:
    if not chosen.quiet:
        click.echo(line, err=True)
    code = 0 if stopped.by in (0, signal.SIGINT) else 128 + stopped.by
    sys.stdout.flush()
    sys.stderr.flush()
    if background.is_running or code:  # a refit is not waited for
        from halfmoon.atomic_files import remove_unfinished

        remove_unfinished()
        os._exit(code)


def _listening(host: str, port: int) -> socket.socket:
    """A socket at an address, or an error that says what is wrong."""
    made = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
        made.listen()  # before the address is told: whoever is early waits
    except OSError as error:
        made.close()
        raise OutputError(
            f"The page cannot be served at {host}, port {port}: {error.strerror}. Give "
            f"another port (--port), or none."
        ) from error
    return made


def _own_hosts(host: str, port: int) -> set[str]:
    """What a browser may call this server."""
    names = {host, "127.0.0.1", "localhost"}
    if host in EVERYWHERE:
        names = {"127.0.0.1", "localhost", "[::1]", socket.gethostname()}
        found = socket.getaddrinfo(socket.gethostname(), port, type=socket.SOCK_STREAM)
        names |= {str(each[4][0]) for each in found}
    return {f"{_in_brackets(name)}:{port}" for name in names}


def _in_brackets(name: str) -> str:
    return f"[{name}]" if ":" in name and not name.startswith("[") else name

"""Run ``halfmoon label``: read the table, serve the page, stop cleanly."""

from __future__ import annotations

import logging
import os
import secrets
import signal
import socket
import sys
import tempfile
import webbrowser
from contextlib import ExitStack, nullcontext
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from halfmoon._atomic_files import remove_unfinished, unfinished
from halfmoon._cli.common_options import CommonOptions
from halfmoon._cli.exit_codes import handle_stops
from halfmoon._cli.paths import STREAM, filled_path, is_table_name, labels_path
from halfmoon._cli.terminal import print_json, print_sentence, print_text
from halfmoon._label.background import Background, filled_table
from halfmoon._label.journal import Journal
from halfmoon._label.session import Labeling
from halfmoon._number_format import count
from halfmoon.table._columns.column_names import existing
from halfmoon.table._files import refuse_place
from halfmoon.table._run_settings import Settings
from halfmoon.table._table_errors import CommandError, OutputError

if TYPE_CHECKING:
    from halfmoon._label.server import Site

__all__ = ["run_label"]

ALL_ADDRESSES = ("0.0.0.0", "::", "")
GRACE_SECONDS = 2  # for open requests when the server stops
#: What libraries raise for requests that are cut off, or are not HTTP.
CONNECTION_ERRORS = ("ClientDisconnect", "LocalProtocolError", "RemoteProtocolError")


def run_label(
    common: CommonOptions,
    *,
    target: str | None,
    classes: str | None,
    person: str | None,
    no_browser: bool,
    port: int,
    host: str,
    **asked: Any,
) -> None:
    """Serve the labeling page until the user stops it.

    Parameters are the options of the command; `asked` holds fields of `Settings`.
    """
    for library in ("starlette", "uvicorn"):
        if find_spec(library) is None:
            raise CommandError(
                f"The labeling page needs {library}, which is not installed. Run: pip "
                f'install "halfmoon[label]"'
            )
    if common.file == STREAM:
        raise CommandError(
            "The labeling page reads the table again to fill it, so standard input is "
            "not enough. Save it to a file first."
        )
    class_names = [name.strip() for name in (classes or "").split(",") if name.strip()]
    if class_names and asked["task"] == "numbers":
        raise CommandError(
            "--classes and --task numbers contradict each other. Leave out one of them."
        )
    path = Path(common.output or labels_path(Path(common.file)))
    with ExitStack() as held:
        with common.progress() as bars, common.open_table() as table:
            if target is None:
                raise CommandError(
                    "Which column should be labeled? Use --target COLUMN. The columns "
                    f"are {', '.join(map(repr, table.columns))}."
                )
            existing(target, table.columns, "target")
            if not path.exists():
                refuse_place(str(path), False, [common.file])
            settings = Settings(target=target, **asked)
            journal = held.enter_context(Journal(path))
            labeling = Labeling(table, settings, journal, class_names, bars)
            bars.finish()
        place = tempfile.TemporaryDirectory(prefix="halfmoon-")
        folder = Path(held.enter_context(place))
        held.enter_context(unfinished(folder))
        _serve(common, labeling, person or "", no_browser, host, port, folder)


def _serve(
    common: CommonOptions,
    labeling: Labeling,
    person: str,
    no_browser: bool,
    host: str,
    port: int,
    folder: Path,
) -> None:
    import uvicorn

    from halfmoon._label.access_guard import Guard
    from halfmoon._label.server import Site

    listener = _listening_socket(host, port)
    port = listener.getsockname()[1]
    token = secrets.token_urlsafe(24)
    shown = "127.0.0.1" if host in ALL_ADDRESSES else host
    address = f"http://{_bracketed(shown)}:{port}/?token={token}"
    if person:
        address += f"&as={quote(person)}"
    background = Background(labeling)
    name = _download_name(Path(common.file))
    fill = partial(filled_table, labeling, common.open_table, folder, name)
    site = Site(labeling, background, fill, person)
    is_public = host in ALL_ADDRESSES
    guard = Guard(site.app(), _allowed_hosts(host, port), token, port, is_public)
    server = uvicorn.Server(
        uvicorn.Config(
            guard,
            log_level="error",  # warnings are about requests from elsewhere
            access_log=False,
            lifespan="off",
            ws="none",
            server_header=False,
            date_header=False,
            timeout_graceful_shutdown=GRACE_SECONDS,
        )
    )
    logging.getLogger("uvicorn.error").addFilter(_is_no_connection_error)
    received = _stop_cleanly(server, site)
    background.start()
    _print_address(common, labeling, address)
    if not no_browser:
        webbrowser.open(address)
    server.run(sockets=[listener])
    background.stop()
    labeling.journal.close()
    if not common.quiet:
        answers = count(len(labeling.answers), "answer")
        print_text(f"Stopped. {answers} in {labeling.journal.path}.", err=True)
    code = 0 if set(received) <= {signal.SIGINT} else 128 + received[0]
    sys.stdout.flush()
    sys.stderr.flush()
    if background.is_running or code:  # do not wait for a refit
        remove_unfinished()
        os._exit(code)


def _print_address(common: CommonOptions, labeling: Labeling, address: str) -> None:
    if common.as_json:
        labels = str(labeling.journal.path)
        print_json({"status": "serving", "address": address, "labels": labels})
        sys.stdout.flush()
        return
    for note in labeling.sample.notes:
        if not common.quiet:
            print_sentence(f"Note: {note}")
    print_text(address)
    if not common.quiet:
        print_sentence(
            f"Answers go to {labeling.journal.path}; the table never changes. Press "
            f"Ctrl-C to stop."
        )
    sys.stdout.flush()


def _stop_cleanly(server: Any, site: Site) -> list[int]:
    """Stop the server on Ctrl-C and the like; return the list of such signals.

    A second signal ends the process at once.
    """
    received: list[int] = []

    def stop(number: int, _: FrameType | None) -> None:
        if received:
            remove_unfinished()
            os._exit(128 + number)
        received.append(number)
        # Requests that are cut off by the end of the server are no errors.
        logging.getLogger("uvicorn.error").disabled = True
        server.should_exit = True
        site.stop()

    # The server's own handlers would end the process before the last line.
    server.install_signal_handlers = lambda: None
    server.capture_signals = nullcontext
    handle_stops(stop)
    return received


def _is_no_connection_error(record: logging.LogRecord) -> bool:
    """Return whether a message is about more than a request that was cut off."""
    kind = None if record.exc_info is None else record.exc_info[0]
    return kind is None or kind.__name__ not in CONNECTION_ERRORS


def _listening_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens on an address."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio turns off the delay of small packets, some 40 ms, only if TCP is named.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen()  # before the address is printed: early requests wait
    except OSError as error:
        listener.close()
        raise OutputError(
            f"The page cannot be served at {host}, port {port}: {error.strerror}. Give "
            f"another port, or leave out --port."
        ) from error
    return listener


def _download_name(table: Path) -> str:
    """Return the name of the filled table; that of a folder is one file."""
    name = filled_path(table).name
    return name if is_table_name(name) else f"{name}.csv"


def _allowed_hosts(host: str, port: int) -> set[str]:
    """Return the host names under which a browser may reach this server."""
    own = socket.gethostname() if host in ALL_ADDRESSES else host
    names = {own, "127.0.0.1", "localhost"}
    return {f"{_bracketed(name)}:{port}" for name in names}


def _bracketed(name: str) -> str:
    return f"[{name}]" if ":" in name and not name.startswith("[") else name

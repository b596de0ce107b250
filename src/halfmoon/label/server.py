"""The page and what it asks for, over HTTP. Needs the extra ``label``.

==============  =====  ===========================================================
``/``           GET    the page
``/page/...``   GET    its style and scripts
``/start``      GET    the table, the classes, the last answers of a person
``/questions``  GET    the next rows for a person
``/row``        GET    one row, to be answered for again
``/answer``     POST   an answer; the response comes when it is on the disk
``/undo``       POST   take an answer back; its row comes back
``/events``     GET    server-sent events: progress, a new queue, a filled table
``/fill``       POST   fill the table, in the background
``/files/...``  GET    labels, filled table, report
==============  =====  ===========================================================
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from halfmoon.label.background import Background
from halfmoon.label.downloads import FilledTable, filled_table
from halfmoon.label.labeling import Labeling, RefusedAnswer
from halfmoon.table.errors import OutputError, TableError

__all__ = ["Site"]

KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
MOST_BODY = 100_000  # bytes of a request
MOST_ASKED = 50  # rows at once
HISTORY = 10
QUIET = 15.0  # seconds after which a line keeps a stream of events open
GATHER = 0.2  # seconds in which changes are told once


class RefusedRequest(TableError):
    """A request that makes no sense, with the status of its answer."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class Site:
    """The routes of a session.

    Parameters
    ----------
    labeling : Labeling
    background : Background
    opened : callable
        Opens the table, to fill it.
    folder : Path
        For files that are made.
    filled_name : str
        Of the filled table.
    person : str
        Whose page it is, unless its address says otherwise; may be empty.
    """

    def __init__(
        self,
        labeling: Labeling,
        background: Background,
        opened: Any,
        folder: Any,
        filled_name: str,
        person: str = "",
    ) -> None:
        self.labeling, self.background = labeling, background
        self.opened, self.folder, self.filled_name = opened, folder, filled_name
        self.person = person
        self.filled: FilledTable | None = None
        self.filling = ""  # what is said of it
        self.stopping = asyncio.Event()
        self._streams: set[asyncio.Queue[str]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        labeling.listeners.append(self._told)

    def app(self) -> Starlette:
        """As an application."""
        return Starlette(
            routes=[
                Route("/", self.page),
                Route("/page/{name}", self.part),
                Route("/start", self.start),
                Route("/questions", self.questions),
                Route("/row", self.row),
                Route("/answer", self.answer, methods=["POST"]),
                Route("/undo", self.undo, methods=["POST"]),
                Route("/events", self.events),
                Route("/fill", self.fill, methods=["POST"]),
                Route("/files/{name}", self.file),
            ],
            exception_handlers={
                RefusedAnswer: _said(422),
                OutputError: _said(507),
                RefusedRequest: _said(400),
            },
        )

    async def page(self, request: Request) -> Response:
        return _part("index.html")

    async def part(self, request: Request) -> Response:
        return _part(request.path_params["name"])

    async def start(self, request: Request) -> Response:
        self._loop = asyncio.get_running_loop()
        labeling, who = self.labeling, request.query_params.get("who", "")
        return JSONResponse(
            {
                "table": labeling.name,
                "target": labeling.settings.target,
                "person": self.person,
                "file": labeling.journal.path.name,
                "notes": [str(note) for note in labeling.kept.notes],
                "history": labeling.history(who, HISTORY),
                "progress": await run_in_threadpool(labeling.progress, who),
                "filled": self._filled(),
            }
        )

    async def questions(self, request: Request) -> Response:
        asked = request.query_params
        n = min(_number(asked.get("n", "20")), MOST_ASKED)
        held = [_number(x) for x in asked.get("held", "").split(",") if x]
        found = await run_in_threadpool(
            self.labeling.next_questions, asked.get("who", ""), n, held
        )
        return JSONResponse({"questions": found, "refits": self.labeling.refits})

    async def row(self, request: Request) -> Response:
        asked = request.query_params
        number = _number(asked.get("row", ""))
        if number not in self.labeling.kept.at:
            raise RefusedRequest(404, "This row is not in the table.")
        return JSONResponse(self.labeling.question(asked.get("who", ""), number))

    async def answer(self, request: Request) -> Response:
        said = await _body(request)
        await run_in_threadpool(self.labeling.answer, said)
        return JSONResponse({"saved": said["id"]})

    async def undo(self, request: Request) -> Response:
        said = await _body(request)
        found = await run_in_threadpool(self.labeling.undo, said)
        return JSONResponse({"saved": said["id"], "question": found})

    async def events(self, request: Request) -> Response:
        self._loop = asyncio.get_running_loop()
        who = request.query_params.get("who", "")
        return StreamingResponse(self._stream(who), media_type="text/event-stream")

    async def fill(self, request: Request) -> Response:
        await _body(request)
        if self.filling != "working":
            self.filling = "working"
            task = self.background.submit(self._fill)
            task.add_done_callback(lambda _: self._told("filled"))
            self._told("filled")
        return JSONResponse(self._filled())

    async def file(self, request: Request) -> Response:
        name = request.path_params["name"]
        path = None
        if name == "labels":
            path = self.labeling.journal.path
        elif self.filled is not None and name in ("table", "report"):
            path = getattr(self.filled, name)
        if path is None or not path.exists():
            raise RefusedRequest(404, "There is no such file yet.")
        return FileResponse(
            path, media_type="application/octet-stream", filename=path.name
        )

    def _fill(self) -> None:
        try:
            self.filled = filled_table(
                self.labeling, self.opened, self.folder, self.filled_name
            )
            self.filling = self.filled.sentence
        except TableError as error:
            self.filling = str(error)
        except Exception as error:
            self.filling = f"The table could not be filled: {error}"
            raise

    def _filled(self) -> dict[str, Any]:
        ready = self.filled is not None and self.filling != "working"
        return {
            "working": self.filling == "working",
            "said": "" if self.filling == "working" else self.filling,
            "table": self.filled.table.name if ready and self.filled else "",
            "report": self.filled.report.name if ready and self.filled else "",
        }

    def _told(self, what: str) -> None:
        """Something has changed, in whichever thread."""
        if self._loop is not None:
            with suppress(RuntimeError):  # it is closed
                self._loop.call_soon_threadsafe(self._pass_on, what)

    def _pass_on(self, what: str) -> None:
        for stream in self._streams:
            stream.put_nowait(what)

    def stop(self) -> None:
        """End the streams, so that the server can."""
        self.stopping.set()
        self._told("stop")

    async def _stream(self, who: str) -> AsyncIterator[str]:
        stream: asyncio.Queue[str] = asyncio.Queue()
        self._streams.add(stream)
        try:
            yield await self._event("progress", who)
            while not self.stopping.is_set():
                try:
                    changed = {await asyncio.wait_for(stream.get(), QUIET)}
                except TimeoutError:
                    yield ": \n\n"
                    continue
                if "stop" not in changed:
                    await asyncio.sleep(GATHER)
                while not stream.empty():
                    changed.add(stream.get_nowait())
                for what in ("queue", "filled", "progress"):
                    if what in changed:
                        yield await self._event(what, who)
                if "queue" in changed and "progress" not in changed:
                    yield await self._event("progress", who)
            yield "event: stop\ndata: {}\n\n"
        finally:
            self._streams.discard(stream)

    async def _event(self, what: str, who: str) -> str:
        data: dict[str, Any] = {"refits": self.labeling.refits}
        if what == "progress":
            data = await run_in_threadpool(self.labeling.progress, who)
        elif what == "filled":
            data = self._filled()
        return f"event: {what}\ndata: {json.dumps(data)}\n\n"


def _part(name: str) -> Response:
    """A file of the page, of those that are there."""
    folder = files("halfmoon.label") / "page"
    known = {each.name: each for each in folder.iterdir()}
    ending = name[name.rfind(".") :] if "." in name else ""
    if name not in known or ending not in KINDS:
        raise RefusedRequest(404, "There is no such page.")
    return Response(known[name].read_bytes(), headers={"Content-Type": KINDS[ending]})


async def _body(request: Request) -> dict[str, Any]:
    """What a page has sent: an object of JSON, not too long."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip()
    if kind != "application/json":  # which no form can send
        raise RefusedRequest(415, "JSON is needed.")
    data = b""
    async for part in request.stream():
        data += part
        if len(data) > MOST_BODY:
            raise RefusedRequest(413, "This is too long.")
    try:
        said = json.loads(data)
    except ValueError:
        said = None
    if not isinstance(said, dict):
        raise RefusedRequest(400, "This is not JSON.")
    return said


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise RefusedRequest(400, f"{text!r} is not a number.") from None


def _said(status: int) -> Any:
    async def say(request: Request, error: Exception) -> Response:
        code = getattr(error, "status", status)
        return JSONResponse({"error": str(error)}, status_code=code)

    return say

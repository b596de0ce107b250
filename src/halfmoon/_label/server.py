"""Serve the labeling page over HTTP. Needs the extra ``label``.

==============  =====  ===========================================================
``/``           GET    the page
``/page/...``   GET    its style and scripts
``/start``      GET    the table, the classes, the last answers of a person
``/questions``  GET    the next rows for a person
``/row``        GET    one row, to be answered again
``/answer``     POST   save an answer; the response is sent when it is on disk
``/undo``       POST   take an answer back; the response holds its row, and the
                       last answers before it
``/events``     GET    server-sent events: progress, a new queue, a filled table
``/fill``       POST   fill the table, in the background
``/files/...``  GET    labels, filled table, report
==============  =====  ===========================================================
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from halfmoon._label.background import Background, FilledTable
from halfmoon._label.session import Labeling, RefusedAnswer
from halfmoon.table._parameter_text import as_options
from halfmoon.table._table_errors import OutputError, TableError

__all__ = ["Site"]

CONTENT_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
MAX_BODY_BYTES = 100_000
MAX_QUESTIONS = 50  # in one request
MAX_HISTORY = 10  # answers
KEEP_ALIVE_SECONDS = 15.0  # after which a comment keeps a stream of events open
GATHER_SECONDS = 0.2  # in which equal events are sent once


class RefusedRequest(TableError):
    """A request that is not understood, with the status of the response."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class Site:
    """The routes of a session.

    `fill_table` makes the filled table. `person` labels it, unless the address of the
    page has another name; may be empty.
    """

    def __init__(
        self,
        labeling: Labeling,
        background: Background,
        fill_table: Callable[[], FilledTable],
        person: str = "",
    ) -> None:
        self.labeling, self.background = labeling, background
        self.fill_table, self.person = fill_table, person
        self.filled: FilledTable | None = None
        self.filling = ""  # "working", or the outcome in words
        self.stopping = asyncio.Event()
        self._streams: dict[asyncio.Queue[str], str] = {}  # and whose page it is
        self._loop: asyncio.AbstractEventLoop | None = None
        labeling.listeners.append(self._changed)

    def app(self) -> Starlette:
        """Return the ASGI application."""
        return Starlette(
            routes=[
                Route("/", _part),
                Route("/page/{name}", _part),
                Route("/start", self.start),
                Route("/questions", self.questions),
                Route("/row", self.row),
                Route("/answer", self.answer, methods=["POST"]),
                Route("/undo", self.undo, methods=["POST"]),
                Route("/events", self.events),
                Route("/fill", self.fill, methods=["POST"]),
                Route("/files/{name}", self.file),
            ],
            exception_handlers=dict.fromkeys(
                (RefusedAnswer, RefusedRequest, OutputError), _refusal
            ),
        )

    async def start(self, request: Request) -> Response:
        self._loop = asyncio.get_running_loop()
        labeling, who = self.labeling, request.query_params.get("who", "")
        progress = await run_in_threadpool(labeling.progress, who)
        history = await run_in_threadpool(labeling.history, who, MAX_HISTORY)
        return JSONResponse(
            {
                "table": Path(labeling.name).name,
                "target": labeling.settings.target,
                "person": self.person,
                "decimal": labeling.sample.style.decimal,
                "file": labeling.journal.path.name,
                "notes": [str(note) for note in labeling.sample.notes],
                "history": history,
                "progress": progress,
                "filled": self._filled(),
            }
        )

    async def questions(self, request: Request) -> Response:
        asked = request.query_params
        n = min(_number(asked.get("n", "20")), MAX_QUESTIONS)
        held = [_number(x) for x in asked.get("held", "").split(",") if x]
        found = await run_in_threadpool(
            self.labeling.next_questions, asked.get("who", ""), n, held
        )
        return JSONResponse({"questions": found, "refits": self.labeling.refits})

    async def row(self, request: Request) -> Response:
        asked = request.query_params
        number = _number(asked.get("row", ""))
        if number not in self.labeling.sample.at:
            raise RefusedRequest(404, "This row is not in the table.")
        who, labeling = asked.get("who", ""), self.labeling
        return JSONResponse(await run_in_threadpool(labeling.question, who, number))

    async def answer(self, request: Request) -> Response:
        body = await _body(request)
        await run_in_threadpool(self.labeling.answer, body)
        return JSONResponse({"saved": body["id"]})

    async def undo(self, request: Request) -> Response:
        body = await _body(request)
        found = await run_in_threadpool(self.labeling.undo, body)
        before = await run_in_threadpool(
            self.labeling.history, body["who"], MAX_HISTORY
        )
        return JSONResponse({"saved": body["id"], "question": found, "history": before})

    async def events(self, request: Request) -> Response:
        self._loop = asyncio.get_running_loop()
        who = request.query_params.get("who", "")
        return StreamingResponse(self._stream(who), media_type="text/event-stream")

    async def fill(self, request: Request) -> Response:
        await _body(request)
        if self.filling != "working":
            self.filling = "working"
            self.background.submit(self._fill)
            self._changed("filled")
        return JSONResponse(self._filled())

    async def file(self, request: Request) -> Response:
        name = request.path_params["name"]
        path = None
        if name == "labels":
            path = self.labeling.journal.path
        elif self.filled is not None and name in ("table", "report"):
            path = getattr(self.filled, name)
        if path is None or not path.exists():
            raise RefusedRequest(404, "This file does not exist yet.")
        return FileResponse(
            path, media_type="application/octet-stream", filename=path.name
        )

    def _fill(self) -> None:
        try:
            self.filled = self.fill_table()
            self.filling = self.filled.sentence
        except TableError as error:
            self.filling = as_options(str(error))
        except Exception as error:
            self.filling = f"The table could not be filled: {error}"
        self._changed("filled")

    def _filled(self) -> dict[str, Any]:
        is_working = self.filling == "working"
        made = None if is_working else self.filled
        return {
            "working": is_working,
            "said": "" if is_working else self.filling,
            "table": made.table.name if made else "",
            "report": made.report.name if made else "",
        }

    def _changed(self, what: str) -> None:
        """Pass an event on to all pages, from any thread."""

        def pass_on() -> None:
            for stream in self._streams:
                stream.put_nowait(what)

        if self._loop is not None:
            with suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(pass_on)

    def stop(self) -> None:
        """End the streams, so that the server can stop."""
        self.stopping.set()
        self._changed("stop")

    async def _stream(self, who: str) -> AsyncIterator[str]:
        stream: asyncio.Queue[str] = asyncio.Queue()
        self._streams[stream] = who
        try:
            # A page that was in the background has missed events.
            for what in ("progress", "filled"):
                yield await self._event(what, who)
            while not self.stopping.is_set():
                try:
                    changed = {await asyncio.wait_for(stream.get(), KEEP_ALIVE_SECONDS)}
                except TimeoutError:
                    yield ": \n\n"
                    continue
                if "stop" not in changed:
                    await asyncio.sleep(GATHER_SECONDS)
                while not stream.empty():
                    changed.add(stream.get_nowait())
                for what in ("queue", "filled", "progress"):
                    if what in changed:
                        yield await self._event(what, who)
                if "queue" in changed and "progress" not in changed:
                    yield await self._event("progress", who)
            yield "event: stop\ndata: {}\n\n"
        finally:
            del self._streams[stream]
            if who not in self._streams.values():  # that was their last page
                self.labeling.leave(who)

    async def _event(self, what: str, who: str) -> str:
        data: dict[str, Any] = {"refits": self.labeling.refits}
        if what == "progress":
            data = await run_in_threadpool(self.labeling.progress, who)
        elif what == "filled":
            data = self._filled()
        return f"event: {what}\ndata: {json.dumps(data)}\n\n"


async def _part(request: Request) -> Response:
    """Return a file of the page."""
    name = request.path_params.get("name", "index.html")
    folder = files("halfmoon._label") / "page"
    known = {each.name: each for each in folder.iterdir()}
    ending = name[name.rfind(".") :] if "." in name else ""
    if name not in known or ending not in CONTENT_TYPES:
        raise RefusedRequest(404, "This page does not exist.")
    return Response(
        known[name].read_bytes(), headers={"Content-Type": CONTENT_TYPES[ending]}
    )


async def _body(request: Request) -> dict[str, Any]:
    """Read the JSON object that a page has sent."""
    content_type = request.headers.get("content-type", "").partition(";")[0].strip()
    if content_type != "application/json":  # which no form can send
        raise RefusedRequest(415, "The request must be JSON.")
    data = b""
    async for part in request.stream():
        data += part
        if len(data) > MAX_BODY_BYTES:
            raise RefusedRequest(413, "The request is too long.")
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise RefusedRequest(400, "The request is not a JSON object.")
    try:
        json.dumps(body, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which no file can hold
        raise RefusedRequest(422, "The request is not Unicode text.") from None
    return body


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise RefusedRequest(400, f"{text!r} is not a number.") from None


async def _refusal(request: Request, error: Exception) -> Response:
    status = getattr(error, "status", 507)  # the answer cannot be stored
    return JSONResponse({"error": str(error)}, status_code=status)

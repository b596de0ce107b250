"""A headless Chromium driven over a pipe: pages looked at as a reader's browser does.

Chromium speaks the DevTools protocol on file descriptors 3 and 4 when it is started
with ``--remote-debugging-pipe``: messages are JSON, each ended by a NUL. That needs no
port, no driver and no package. The browser is taken from the environment variable
HALFMOON_BROWSER or found by its usual names.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

__all__ = ["Browser", "Page", "browser_command", "open_browser"]

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
MISSING = (
    "No browser: install Chromium (Debian: apt install chromium; others: Chrome), or "
    "name one by the environment variable HALFMOON_BROWSER."
)
SECONDS = 60.0  # a start on a busy machine takes some
FLAGS = (
    "--headless",
    "--no-sandbox",  # which containers do not allow; only our own pages are opened
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-sync",
    "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # no name is looked up
    "--remote-debugging-pipe",
)
# Descriptors 3 and 4 may be taken here, so a small program moves ours there.
LAUNCH = (
    "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); "
    "os.execv(sys.argv[3], sys.argv[3:])"
)
# Where an element is on the page.
BOX = """(() => {
  const box = document.querySelector(%s).getBoundingClientRect();
  return {x: box.x + scrollX, y: box.y + scrollY, width: box.width, height: box.height};
})()"""

SEEN_BOX = """(() => {
  const element = document.querySelector(%s);
  element.scrollIntoView({block: "nearest"});
  return element.getBoundingClientRect().toJSON();
})()"""
CODES = {" ": "Space", "Enter": "Enter", "Backspace": "Backspace"}
#: What Chromium calls keys that are no letters.
NUMBERS = {
    "Enter": 13,
    "Backspace": 8,
    "Escape": 27,
    "Tab": 9,
    "ArrowDown": 40,
    "ArrowUp": 38,
    " ": 32,
}


def _number_of(key: str) -> dict[str, int]:
    number = NUMBERS.get(key) or (ord(key.upper()) if key.isalnum() else 0)
    return {"windowsVirtualKeyCode": number} if number else {}


def browser_command() -> str | None:
    """Path of a browser, or None; Windows has no descriptors 3 and 4."""
    if sys.platform == "win32":
        return None
    named = os.environ.get("HALFMOON_BROWSER")
    for name in (named,) if named else NAMES:
        found = shutil.which(name)
        if found:
            return found
    return None


class Browser:
    """The connection: commands go out, answers and events come back."""

    def __init__(self, process: subprocess.Popen[bytes], out: int, back: int) -> None:
        self.process, self._out, self._back = process, out, back
        self._buffer, self._number = b"", 0
        self.events: list[dict[str, Any]] = []

    def call(self, method: str, session: str | None = None, **params: Any) -> Any:
        """Send a command and wait for its answer; events meanwhile are kept."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._out, data) :]
        deadline = time.monotonic() + SECONDS
        while True:
            answer = self._read(deadline)
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def wait(self, event: str, session: str) -> dict[str, Any]:
        """Wait for an event of a page."""
        deadline, seen = time.monotonic() + SECONDS, 0
        while True:
            for each in self.events[seen:]:
                if (each.get("method"), each.get("sessionId")) == (event, session):
                    return each
            seen = len(self.events)
            self.events.append(self._read(deadline))

    def new_page(self) -> Page:
        """An empty page whose events are reported."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        return Page(self, attached["sessionId"])

    def _read(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select(
                [self._back], [], [], deadline - time.monotonic()
            )
            data = os.read(self._back, 1 << 20) if ready else b""
            if not data:
                why = "said nothing for too long" if not ready else "has ended"
                raise RuntimeError(f"The browser {why}.")
            self._buffer += data
        message, _, self._buffer = self._buffer.partition(b"\0")
        return dict(json.loads(message))


class Page:
    """A tab."""

    def __init__(self, browser: Browser, session: str) -> None:
        self.browser, self.session = browser, session
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> Any:
        """Send a command to this tab."""
        return self.browser.call(method, self.session, **params)

    def open(self, path: Path | str) -> None:
        """Load a file or an address; events of earlier pages are forgotten."""
        self.browser.events.clear()
        address = path if isinstance(path, str) else path.resolve().as_uri()
        self.call("Page.navigate", url=address)
        self.browser.wait("Page.loadEventFired", self.session)

    def press(self, key: str) -> None:
        """Press a key and let go of it: "a", "?", " ", "Enter", "ArrowDown"."""
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        named = {"key": key, "code": CODES.get(key, ""), **_number_of(key)}
        kind = "keyDown" if text else "rawKeyDown"
        self.call("Input.dispatchKeyEvent", type=kind, text=text, **named)
        self.call("Input.dispatchKeyEvent", type="keyUp", **named)

    def click(self, selector: str, *, touch: bool = False) -> None:
        """Click an element in its middle, or touch it."""
        box = self.evaluate(SEEN_BOX % json.dumps(selector))
        at = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
        if touch:
            self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[at])
            self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
            return
        for kind in ("mousePressed", "mouseReleased"):
            self.call(
                "Input.dispatchMouseEvent",
                type=kind,
                button="left",
                clickCount=1,
                **at,
            )

    def wait_for(self, expression: str, seconds: float = SECONDS) -> Any:
        """Value of an expression once it is true."""
        deadline = time.monotonic() + seconds
        while True:
            found = self.evaluate(expression)
            if found:
                return found
            if time.monotonic() > deadline:
                raise TimeoutError(f"{expression} is still {found!r}.")
            time.sleep(0.01)

    def events(self, method: str) -> list[dict[str, Any]]:
        """What was reported of one kind since the page was opened."""
        self.evaluate("0")  # whatever was said before is then read
        return [
            each["params"] for each in self.browser.events if each["method"] == method
        ]

    def evaluate(self, expression: str) -> Any:
        """Value of an expression in the page, which its policy does not hinder."""
        found = self.call(
            "Runtime.evaluate",
            expression=expression,
            returnByValue=True,
            awaitPromise=True,
        )
        if "exceptionDetails" in found:
            raise RuntimeError(f"{expression}: {found['exceptionDetails']}")
        return found["result"].get("value")

    def resize(self, width: int, height: int, *, scale: float = 1.0) -> None:
        """Size of the window, in CSS pixels; narrow ones are phones."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=scale,
            mobile=width < 600,
        )

    def media(self, kind: str = "screen", *, dark: bool = False) -> None:
        """Screen or print, light or dark."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media=kind, features=[scheme])

    def screenshot(
        self, path: Path, *, selector: str | None = None, whole: bool = False
    ) -> None:
        """A PNG of what the window shows, of an element, or of the whole page."""
        clip: dict[str, Any] = {}
        if selector or whole:
            box = self.evaluate(BOX % json.dumps(selector or "html"))
            clip = {"clip": {**box, "scale": 1}, "captureBeyondViewport": True}
        data = self.call("Page.captureScreenshot", format="png", **clip)["data"]
        path.write_bytes(base64.b64decode(data))

    def pdf(self, path: Path) -> None:
        """As it is printed."""
        found = self.call("Page.printToPDF", preferCSSPageSize=True)
        path.write_bytes(base64.b64decode(found["data"]))


@contextmanager
def open_browser() -> Iterator[Browser]:
    """A browser with an empty profile, ended and swept away at the end of the block."""
    command = browser_command()
    if command is None:
        raise FileNotFoundError(MISSING)
    import fcntl  # not on Windows

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        to_it, out = os.pipe()
        back, from_it = os.pipe()
        # Beyond 4, so that moving one does not close the other.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (to_it, from_it)]
        flags = [*FLAGS, f"--user-data-dir={profile}"]
        process = subprocess.Popen(
            [sys.executable, "-c", LAUNCH, *map(str, ends), command, *flags],
            pass_fds=ends,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for end in (to_it, from_it, *ends):
            os.close(end)
        try:
            yield Browser(process, out, back)
        finally:
            os.close(out)  # upon which it ends by itself
            os.close(back)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

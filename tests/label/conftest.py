"""Sessions of the labeling page, and servers, each in its own process."""

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from http.cookies import SimpleCookie
from pathlib import Path

import pytest

from halfmoon._label.journal import Journal
from halfmoon._label.session import Labeling
from halfmoon.table._files import open_table
from halfmoon.table._run_settings import Settings, Stages
from small_tables import write_csv

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

SECONDS = 60.0


class Server:
    """``halfmoon label`` in a folder."""

    def __init__(self, launcher, folder, arguments):
        self.launcher, self.folder = launcher, Path(folder)
        (self.folder / "said.txt").unlink(missing_ok=True)
        launcher.stdin.write(
            json.dumps([str(folder), list(map(str, arguments))]) + "\n"
        )
        launcher.stdin.flush()
        self.pid = int(launcher.stdout.readline())
        self.code = None
        self.address = self._address()
        self.port = int(self.address.split(":")[2].split("/")[0])
        self.token = self.address.split("token=")[1].split("&")[0]

    def said(self):
        path = self.folder / "said.txt"
        return path.read_text() if path.exists() else ""

    def _address(self):
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            found = [x for x in self.said().splitlines(True) if x.startswith("http")]
            if found and found[0].endswith("\n"):
                return found[0].strip()
            if "halfmoon: " in self.said():
                break
            time.sleep(0.005)
        self.end()
        raise RuntimeError(self.said())

    def end(self, by=signal.SIGKILL):
        """End the process and return its exit code; negative after a signal."""
        if self.code is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, by)
            self.code = int(self.launcher.stdout.readline())
        return self.code

    def client(self, **options):
        return Client(self.port, self.token, **options)


class Client:
    """An HTTP client with the cookie of the page."""

    def __init__(self, port, token, who="ann"):
        self.port, self.who = port, who
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)
        status, headers, _ = self.raw("GET", f"/?token={token}")
        assert status == 200
        (cookie,) = SimpleCookie(headers["set-cookie"]).values()
        self.cookie = f"{cookie.key}={cookie.value}"

    def close(self):
        self.connection.close()

    def raw(self, method, path, body=None, headers=None):
        self.connection.request(method, path, body, headers or {})
        answer = self.connection.getresponse()
        found = {name.lower(): value for name, value in answer.getheaders()}
        return answer.status, found, answer.read()

    def get(self, path):
        status, _, data = self.raw("GET", path, headers={"Cookie": self.cookie})
        assert status == 200, data
        return json.loads(data)

    def post(self, path, **body):
        headers = {
            "Cookie": self.cookie,
            "Origin": f"http://127.0.0.1:{self.port}",
            "Content-Type": "application/json",
        }
        data = json.dumps({"who": self.who, **body})
        status, _, data = self.raw("POST", path, data, headers)
        return status, json.loads(data)

    def questions(self, n=20, held=()):
        text = ",".join(map(str, held))
        return self.get(f"/questions?who={self.who}&n={n}&held={text}")["questions"]


@pytest.fixture
def session(tmp_path, monkeypatch):
    """session(rows, target) is a session of a table; again without rows."""
    monkeypatch.chdir(tmp_path)
    opened = []

    def session(rows=None, target="side", classes=(), **settings):
        for journal in opened:
            journal.close()
        if rows is not None:
            write_csv("t.csv", rows)
        opened.append(Journal("t.labels.jsonl"))
        asked = Settings(target, budget=1e-9, **settings)
        with open_table("t.csv") as table:
            return Labeling(table, asked, opened[-1], classes, Stages())

    yield session
    for journal in opened:
        journal.close()


@pytest.fixture(scope="session")
def launcher():
    if not hasattr(os, "fork"):
        pytest.skip("needs fork")
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("launcher.py"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        yield process
        process.stdin.close()
        process.wait(SECONDS)


@pytest.fixture
def serve(launcher, tmp_path):
    """serve("t.csv", "--target", "y") in the folder of the test."""
    running = []

    def serve(*arguments, folder=tmp_path, budget="0.000001"):
        for server in running:
            server.end()  # the launcher looks after one at a time
        options = ("--no-browser", "--budget", budget)
        running.append(Server(launcher, folder, [*options, *arguments]))
        return running[-1]

    yield serve
    for server in running:
        server.end()

"""A server that is killed at any moment has kept every answer that it confirmed."""

import http.client
import os
import random
import signal
import threading
import time
from collections import Counter

import pytest

from halfmoon._label.journal import read_journal
from small_tables import two_groups, write_csv

ROWS = 40


def scripted(server, rng, plan, confirmed):
    """Answer, skip and undo until the server is gone.

    What was sent and not confirmed stays in the plan, to be sent again with its id.
    """
    client = server.client()
    client.questions(20)
    delay = rng.uniform(0.0, 0.2)
    killer = threading.Timer(delay, os.kill, (server.pid, signal.SIGKILL))
    killer.start()
    deadline = time.monotonic() + 60
    try:
        while time.monotonic() < deadline:
            path, said = plan[0] if plan else (None, None)
            if path is None:
                id_ = f"{rng.getrandbits(80):x}"
                done = [x for x in confirmed if confirmed[x][0] == "/answer"]
                if done and rng.random() < 0.2:
                    said = {"id": id_, "undo": rng.choice(done)}
                    plan.append(("/undo", said))
                else:
                    value = rng.choice(["left", "right", None])
                    said = {"id": id_, "row": rng.randrange(ROWS), "value": value}
                    plan.append(("/answer", said))
                path = plan[0][0]
            status, answer = client.post(path, **said)
            assert status == 200, answer
            confirmed[said["id"]] = (path, said)
            plan.pop(0)
    except (OSError, http.client.HTTPException):
        pass
    client.close()
    killer.join()


def survive(serve, tmp_path, times):
    write_csv(tmp_path / "t.csv", two_groups(n=ROWS, labels=0)[0])
    before = (tmp_path / "t.csv").read_bytes()
    journal = tmp_path / "t.labels.jsonl"
    rng = random.Random(times)
    confirmed, plan = {}, []
    for _ in range(times):
        server = serve("t.csv", "--target", "side")
        scripted(server, rng, plan, confirmed)
        server.code = int(server.launcher.stdout.readline())
        assert server.code == -signal.SIGKILL
        read = read_journal(journal)
        lines = {line["id"]: line for line in read.lines}
        text = journal.read_text(errors="replace") if journal.exists() else ""
        counts = Counter(piece.split('"')[0] for piece in text.split('{"id":"')[1:])
        for id_, (path, said) in confirmed.items():
            if path == "/answer":
                assert lines[id_]["value"] == said["value"]
                assert counts[id_] == 1
            else:
                # Undoing what is undone already adds nothing.
                assert sum(x.get("undo") == said["undo"] for x in lines.values()) == 1
        assert len(lines) <= len(confirmed) + 1
        assert max(counts.values(), default=1) == 1
    assert (tmp_path / "t.csv").read_bytes() == before
    assert len(confirmed) > times


def test_killed_twice(serve, tmp_path):
    survive(serve, tmp_path, 2)


@pytest.mark.slow
def test_killed_two_hundred_times(serve, tmp_path):
    survive(serve, tmp_path, 200)

"""The server stops cleanly, whatever is going on."""

import signal
import socket

import numpy as np
import pytest

from small_tables import two_groups, write_csv


def stopped(server):
    """Press Ctrl-C."""
    assert server.end(signal.SIGINT) == 0
    said = server.said()
    assert "Traceback" not in said
    assert list(server.folder.glob("halfmoon-*")) == []  # temporary folders
    return said


def test_during_a_refit(serve, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3000, 20)).round(3)
    y = np.where(x[:, 0] * x[:, 1] + x[:, 2] > 0, "a", "b")
    rows = [[*(f"c{j}" for j in range(20)), "y"]]
    rows += [[*x[i], y[i] if i < 1000 else ""] for i in range(3000)]
    write_csv(tmp_path / "t.csv", rows)
    server = serve("t.csv", "--target", "y", budget="60")
    client = server.client()
    (question,) = client.questions(1)
    assert client.post("/answer", id="i", row=question["row"], value="a")[0] == 200
    assert client.get("/start?who=ann")["progress"]["learning"]
    client.close()
    assert "Stopped. 1 answer in t.labels.jsonl." in stopped(server)


def test_requests_that_are_cut_off_are_no_errors(serve, tmp_path):
    write_csv(tmp_path / "t.csv", two_groups()[0])
    server = serve("t.csv", "--target", "side")
    client = server.client()
    host = f"127.0.0.1:{server.port}"
    head = f"POST /answer HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\n"
    json = f"Cookie: {client.cookie}\r\nContent-Type: application/json\r\n"
    for rest in (
        f"{json}Content-Length: 90\r\n\r\n{{",
        f"{json}Transfer-Encoding: chunked\r\n\r\nno size\r\n",
        "Transfer-Encoding: chunked\r\n\r\nno size\r\n",  # of a stranger
    ):
        with socket.create_connection(("127.0.0.1", server.port)) as cut:
            cut.sendall((head + rest).encode())
            if "chunked" in rest:
                assert cut.recv(20).startswith(b"HTTP/1.1 400")
    assert client.post("/answer", id="i", row=20, value="left")[0] == 200
    client.close()
    said = stopped(server)
    assert "ERROR" not in said
    assert "Stopped. 1 answer in t.labels.jsonl." in said


@pytest.mark.slow  # open requests have two seconds to end
def test_while_requests_are_open(serve, tmp_path):
    write_csv(tmp_path / "t.csv", two_groups()[0])
    server = serve("t.csv", "--target", "side")
    client = server.client()
    host = f"127.0.0.1:{server.port}"
    head = f"Host: {host}\r\nOrigin: http://{host}\r\nCookie: {client.cookie}\r\n"
    json = "Content-Type: application/json\r\nContent-Length: 90\r\n"
    begun = []
    for request in (
        f"POST /answer HTTP/1.1\r\n{head}{json}\r\n{{",
        f"GET /events?who=ann HTTP/1.1\r\n{head}\r\n",
        "GET / HT",
    ):
        begun.append(socket.create_connection(("127.0.0.1", server.port)))
        begun[-1].sendall(request.encode())
    assert begun[1].recv(1000).startswith(b"HTTP/1.1 200")
    # Others are served meanwhile.
    assert client.post("/answer", id="i", row=20, value="left")[0] == 200
    assert "Stopped. 1 answer in t.labels.jsonl." in stopped(server)
    for each in (client, *begun):
        each.close()

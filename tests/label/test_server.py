"""Requests to the page: who is refused, and what the responses are."""

import asyncio
import json
from threading import Event

import pytest

pytest.importorskip("starlette")

from halfmoon._label.access_guard import Guard
from halfmoon._label.background import Background, filled_table
from halfmoon._label.journal import Journal
from halfmoon._label.server import Site
from halfmoon._label.session import Labeling
from halfmoon.table._files import open_table
from halfmoon.table._run_settings import Settings, Stages
from label.asking import Asking
from small_tables import read_csv, two_groups, write_csv

HOST = "127.0.0.1:8123"
ORIGIN = f"http://{HOST}"


class Open:
    """A site with one answer, and a client with its cookie."""

    def __init__(self, folder):
        write_csv(folder / "t.csv", two_groups(labels=12)[0])
        self.journal = Journal(folder / "t.labels.jsonl")
        settings = Settings("side", budget=1e-9)
        self.open = lambda: open_table(folder / "t.csv")
        with self.open() as table:
            self.labeling = Labeling(table, settings, self.journal, (), Stages())
        self.background = Background(self.labeling)
        place = (self.labeling, self.open, folder, "t.filled.csv")
        self.site = Site(self.labeling, self.background, lambda: filled_table(*place))
        self.guard = Guard(self.site.app(), [HOST, "localhost:8123"], "secret", 8123)
        self.client = self.browser()
        assert self.client.get("/?token=secret").status_code == 200
        self.say(id="first", row=20, value="left", who="ann")
        self.before = self.journal.path.read_bytes()

    def browser(self, guard=None):
        return Asking(guard or self.guard, HOST)

    def say(self, client=None, path="/answer", headers=None, **said):
        headers = {"Origin": ORIGIN} if headers is None else headers
        headers = {"Content-Type": "application/json", **headers}
        return (client or self.client).post(path, json.dumps(said), headers)

    @property
    def is_unchanged(self):
        return self.journal.path.read_bytes() == self.before


@pytest.fixture
def page(tmp_path):
    found = Open(tmp_path)
    yield found
    found.journal.close()


ANSWER = {"id": "second", "row": 21, "value": "right", "who": "ann"}


def test_the_token_is_exchanged_for_a_cookie(page):
    browser = page.browser()
    assert browser.get("/").status_code == 403
    assert browser.get("/?token=other").status_code == 403
    assert browser.get("/page/app.js?token=secret").status_code == 403
    answer = browser.get("/?token=secret")
    assert answer.status_code == 200
    cookie = answer.headers["set-cookie"]
    assert "SameSite=Strict" in cookie
    assert "HttpOnly" in cookie
    assert "secret" not in cookie
    assert browser.get("/").status_code == 200
    assert "set-cookie" not in browser.get("/").headers


def test_answers_need_the_cookie(page):
    stranger = page.browser()
    for path in ("/answer", "/undo", "/fill", "/answer?token=secret"):
        assert page.say(stranger, path, **ANSWER).status_code == 403
    for path in ("/start", "/questions", "/row?row=1", "/events", "/files/labels"):
        assert stranger.get(path).status_code == 403
    assert page.is_unchanged


def test_an_old_cookie_is_refused(page):
    later = Guard(page.site.app(), [HOST], "another", 8123)
    old = page.browser(later)
    old.cookies = page.client.cookies
    assert old.get("/").status_code == 403
    assert page.say(old, **ANSWER).status_code == 403
    assert page.is_unchanged


@pytest.mark.parametrize(
    "host", ["evil.example:8123", "127.0.0.1", "127.0.0.1:80", "127.0.0.1.evil:8123"]
)
def test_another_host_is_refused(page, host):
    """A website whose name points to this machine (DNS rebinding)."""
    headers = {"Host": host, "Origin": f"http://{host}"}
    assert page.say(headers=headers, **ANSWER).status_code == 400
    assert page.say(headers={**headers, "Origin": ORIGIN}, **ANSWER).status_code == 400
    assert page.client.get("/?token=secret", headers={"Host": host}).status_code == 400
    assert page.is_unchanged


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("10.1.2.3:8123", 200),
        ("[fe80::1]:8123", 200),
        ("10.1.2.3:8124", 400),
        ("10.1.2.3", 400),
        ("10.1.2.3.evil.example:8123", 400),
        ("evil.example:8123", 400),
        (":8123", 400),
    ],
)
def test_all_addresses_are_served_by_number(page, host, status):
    guard = Guard(page.site.app(), [HOST], "secret", 8123, any_address=True)
    client = Asking(guard, host)
    assert client.get("/?token=secret").status_code == status
    if status == 200:
        own, other = f"http://{host}", "http://10.9.9.9:8123"
        assert page.say(client, headers={"Origin": other}, **ANSWER).status_code == 403
        assert page.say(client, headers={"Origin": own}, **ANSWER).status_code == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:9999", None]
)
def test_another_origin_is_refused(page, origin):
    headers = {} if origin is None else {"Origin": origin}
    for path in ("/answer", "/undo", "/fill"):
        assert page.say(path=path, headers=headers, **ANSWER).status_code == 403
    assert page.is_unchanged


def test_a_form_is_refused(page):
    for kind in ("application/x-www-form-urlencoded", "text/plain", ""):
        headers = {"Origin": ORIGIN, "Content-Type": kind}
        answer = page.client.post("/answer", json.dumps(ANSWER), headers)
        assert answer.status_code == 415
    assert page.is_unchanged


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_requests_of_other_sites_are_refused(page, site):
    """Another port of this machine is the same site, so cookies are sent from there."""
    headers = {"Sec-Fetch-Site": site}
    for path in ("/files/labels", "/questions?who=ann", "/start", "/events?who=ann"):
        assert page.client.get(path, headers=headers).status_code == 403
    assert page.client.get("/", headers=headers).status_code == 200  # a link


def test_reading_only_the_head_needs_the_cookie(page):
    stranger = page.browser()
    for path in ("/", "/files/labels", "/start"):
        assert stranger.request("HEAD", path).status_code == 403
    assert page.client.request("HEAD", "/files/labels").status_code == 200
    assert page.is_unchanged


def test_other_methods_and_bodies_are_refused(page):
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"):
        answer = page.client.request(method, "/answer", headers={"Origin": ORIGIN})
        assert answer.status_code == 405
    headers = {"Origin": ORIGIN, "Content-Type": "application/json"}
    deep = '{"a":' * 15_000 + "1" + "}" * 15_000
    bodies = (("[1]", 400), ("{", 400), (deep, 400), ('"' + "x" * 200_000, 413))
    for body, status in bodies:
        answer = page.client.post("/answer", body, headers)
        assert answer.status_code == status
    for wrong in ({}, {**ANSWER, "row": 99}, {**ANSWER, "value": ""}):
        answer = page.say(**wrong)
        assert answer.status_code == 422
        assert answer.json()["error"]
    assert page.client.get("/row?who=ann&row=99").status_code == 404
    assert page.client.get("/questions?who=ann&n=many").status_code == 400
    assert page.is_unchanged


def test_the_policy_allows_only_own_scripts(page):
    for path in ("/", "/page/app.js", "/start", "/nowhere", "/files/table"):
        headers = page.client.get(path).headers
        policy = headers["content-security-policy"]
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
    text = page.client.get("/").text
    assert "<script type=" in text
    assert text.count("<script") == 1
    assert " style=" not in text
    assert " on" + "click" not in text
    assert "http" not in text.replace('http-equiv"', "")


def test_files_of_the_page(page):
    kinds = {"app.js": "text/javascript", "style.css": "text/css"}
    for name, kind in kinds.items():
        answer = page.client.get(f"/page/{name}")
        assert answer.headers["content-type"].startswith(kind)
        assert "innerHTML" not in answer.text
        assert "http:" not in answer.text
    for name in ("../server.py", "..%2fserver.py", "server.py", "none.js", ".."):
        assert page.client.get(f"/page/{name}").status_code == 404


def test_answer_and_undo(page):
    assert page.say(**ANSWER).json() == {"saved": "second"}
    assert b'"id":"second"' in page.journal.path.read_bytes()
    start = page.client.get("/start?who=ann").json()
    assert [x["id"] for x in start["history"]] == ["second", "first"]
    assert start["progress"]["answered"] == 2
    back = page.say(path="/undo", id="u", who="ann", undo="second").json()
    assert back["question"]["row"] == 21
    assert [x["id"] for x in back["history"]] == ["first"]
    assert page.client.get("/start?who=ann").json()["progress"]["answered"] == 1
    assert page.client.get("/row?who=ann&row=20").json()["name"] == 22


def test_downloads(page):
    assert page.client.get("/files/table").status_code == 404
    answer = page.client.get("/files/labels")
    assert answer.content == page.before
    assert "t.labels.jsonl" in answer.headers["content-disposition"]
    page.background.start()
    try:
        assert page.say(path="/fill").json()["working"]
        after = Event()
        page.background.submit(after.set)
        assert after.wait(120)
    finally:
        page.background.stop()
    filled = page.client.get("/start?who=ann").json()["filled"]
    assert filled["table"] == "t.filled.csv"
    assert filled["said"].startswith("Filled 27 blanks in 'side' from 13 labels")
    assert (
        "attachment" in page.client.get("/files/report").headers["content-disposition"]
    )
    assert b"<html" in page.client.get("/files/report").content
    assert len(read_csv(page.site.filled.table)) == 41
    assert page.is_unchanged


def test_a_table_that_cannot_be_filled_says_why(page):
    page.say(path="/undo", id="u", who="ann", undo="first")
    page.labeling.settings = Settings("side", budget=1e-9, memory="1MB")
    page.site._fill()
    assert "1 MB of memory is too little" in page.site.filling
    assert page.client.get("/start?who=ann").json()["filled"]["table"] == ""


def test_a_table_that_was_sorted_meanwhile_is_filled_by_content(page):
    page.say(**{**ANSWER, "value": "other"})
    with page.open() as table:
        path = table.source.path
    head, *rows = read_csv(path)
    write_csv(path, [head, *rows[::-1]])
    page.site._fill()
    found = read_csv(page.site.filled.table)[1:]
    assert found[len(rows) - 1 - 21][3:5] == ["other", "given"]
    assert [row[3] for row in found if row[4] == "given"].count("other") == 1
    write_csv(path, [head, *rows[::-1][20:]])  # the answered rows are gone
    page.site._fill()
    assert page.site.filling.startswith("None of the 2 answers in t.labels.jsonl")


def test_text_that_no_file_holds_is_refused(page):
    wrong = {**ANSWER, "value": "\ud800"}
    assert page.say(**wrong).status_code == 422
    assert page.say(**{**ANSWER, "id": "\ud800"}).status_code == 422
    assert page.is_unchanged
    assert page.client.get("/start?who=ann").status_code == 200


def test_rows_of_a_page_that_was_closed_are_free_again(page):
    async def opened_and_closed():
        stream = page.site._stream("bob")
        await anext(stream)
        taken = page.labeling.next_questions("bob", 20)
        his = {x["row"] for x in taken} - {20}  # ann has labeled that one
        assert len(his) == 19
        assert not his & asked_of_ann(8)
        second = page.site._stream("bob")
        await anext(second)
        await stream.aclose()
        assert not his & asked_of_ann(8)  # a page is left
        await second.aclose()
        assert his & asked_of_ann(9)

    def asked_of_ann(n):
        return {x["row"] for x in page.labeling.next_questions("ann", n)}

    asyncio.run(opened_and_closed())


def test_events(page):
    async def first_events():
        page.site._loop = asyncio.get_running_loop()
        stream = page.site._stream("ann")
        found = [await anext(stream), await anext(stream)]
        page.labeling.answer(ANSWER)
        found.append(await anext(stream))
        page.labeling.notify("queue")
        found += [await anext(stream), await anext(stream)]
        page.site.stop()
        found += [event async for event in stream]
        return found

    found = asyncio.run(first_events())
    names = [event.split("\n")[0] for event in found]
    assert names == [
        *("event: progress", "event: filled", "event: progress"),
        *("event: queue", "event: progress", "event: stop"),
    ]
    assert json.loads(found[0].split("data: ")[1])["answered"] == 1
    assert json.loads(found[1].split("data: ")[1])["working"] is False
    assert json.loads(found[2].split("data: ")[1])["answered"] == 2

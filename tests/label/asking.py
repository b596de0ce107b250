"""A client that calls an ASGI application directly, with cookies."""

import asyncio
import json
from http.cookies import SimpleCookie
from urllib.parse import unquote


class Answer:
    def __init__(self, status, headers, content):
        self.status_code, self.headers, self.content = status, headers, content

    @property
    def text(self):
        return self.content.decode()

    def json(self):
        return json.loads(self.content)


class Asking:
    """Sends requests to an ASGI application, as a browser at `host` would."""

    def __init__(self, app, host, cookies=None):
        self.app, self.host, self.cookies = app, host, dict(cookies or {})

    def get(self, path, headers=None):
        return self.request("GET", path, headers=headers)

    def post(self, path, content, headers=None):
        return self.request("POST", path, content, headers)

    def request(self, method, path, content="", headers=None):
        sent = {"Host": self.host, **(headers or {})}
        if self.cookies:
            pairs = (f"{name}={value}" for name, value in self.cookies.items())
            sent["Cookie"] = "; ".join(pairs)
        answer = asyncio.run(self._ask(method, path, content.encode(), sent))
        for cookie in SimpleCookie(answer.headers.get("set-cookie", "")).values():
            self.cookies[cookie.key] = cookie.value
        return answer

    async def _ask(self, method, path, body, headers):
        place, _, query = path.partition("?")
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote(place),
            "raw_path": place.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [(k.lower().encode(), v.encode()) for k, v in headers.items()],
            "client": ("127.0.0.1", 50000),
            "server": ("127.0.0.1", 8123),
        }
        parts = [{"type": "http.request", "body": body, "more_body": False}]
        said = []

        async def receive():
            if not parts:
                await asyncio.Event().wait()  # nobody hangs up
            return parts.pop(0)

        async def send(message):
            said.append(message)

        await self.app(scope, receive, send)
        pairs = ((k.decode().lower(), v.decode()) for k, v in said[0]["headers"])
        content = b"".join(each.get("body", b"") for each in said[1:])
        return Answer(said[0]["status"], dict(pairs), content)

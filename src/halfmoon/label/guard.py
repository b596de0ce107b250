"""Who may speak to the page: nobody but a browser that was given the address.

=====================  ======================================================
what is refused        why
=====================  ======================================================
another Host           a page elsewhere that has turned its name to 127.0.0.1
another Origin         a page or a form elsewhere that sends answers
no cookie, an old one  whoever does not know the token in the address
=====================  ======================================================

The token is exchanged for a cookie that is sent with requests of this page alone
(SameSite=Strict) and that no script reads (HttpOnly). Both are drawn anew each time the
server starts.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Collection
from typing import Any

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Guard"]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
READING = ("GET", "HEAD")
NO_ENTRY = (
    "This page needs the address that halfmoon label has printed, with its token. The "
    "token is a new one each time the command is started."
)


class Guard:
    """Refuses what does not come from the page, before anything else sees it.

    Parameters
    ----------
    app : ASGI application
    hosts : collection of str
        Values of Host that are the page's own, such as ``127.0.0.1:8123``.
    token : str
        That stands in the address.
    port : int
        Cookies are shared by all ports of a machine, so their name holds it.
    """

    def __init__(
        self, app: ASGIApp, hosts: Collection[str], token: str, port: int
    ) -> None:
        self.app, self.token = app, token
        self.hosts = {host.lower() for host in hosts}
        self.cookie = f"halfmoon-{port}"
        self.secret = secrets.token_urlsafe(32)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # there are no web sockets here
            return
        headers = Headers(scope=scope)
        why = self._refused(scope, headers)
        enters = why is None and not self._has_cookie(headers)
        if enters and not self._has_token(scope):
            why = (403, NO_ENTRY)

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                added = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    added[name] = value
                if why is None and enters:
                    added.append(
                        "Set-Cookie",
                        f"{self.cookie}={self.secret}; Path=/; HttpOnly; "
                        f"SameSite=Strict",
                    )
            await send(message)

        if why is not None:
            refusal: Any = PlainTextResponse(why[1], status_code=why[0])
            await refusal(scope, receive, guarded)
            return
        await self.app(scope, receive, guarded)

    def _refused(self, scope: Scope, headers: Headers) -> tuple[int, str] | None:
        """Status and reason, if it comes from elsewhere."""
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self.hosts:
            return 400, "This is not the address of the page."
        method, origin = scope["method"], headers.get("origin")
        if method not in (*READING, "POST"):
            return 405, "This cannot be done here."
        own = {f"http://{host}" for host in self.hosts}
        if origin is not None and origin.lower() not in own:
            return 403, "This request comes from another page."
        if method == "POST" and origin is None:
            return 403, "This request does not say which page it comes from."
        site = headers.get("sec-fetch-site", "none")
        if site not in ("same-origin", "none") and scope["path"] != "/":
            return 403, "This request comes from another page."
        return None

    def _has_cookie(self, headers: Headers) -> bool:
        cookies = cookie_parser(headers.get("cookie", ""))
        return _same(cookies.get(self.cookie, ""), self.secret)

    def _has_token(self, scope: Scope) -> bool:
        if scope["path"] != "/" or scope["method"] not in READING:
            return False
        asked = QueryParams(scope["query_string"])
        return _same(asked.get("token", ""), self.token)


def _same(one: str, other: str) -> bool:
    """Compare without telling by the time how much agrees."""
    return hmac.compare_digest(one.encode(), other.encode())

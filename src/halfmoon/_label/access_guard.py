"""Refuse every request that does not come from a browser with the printed address.

=====================  ======================================================
refused                protects against
=====================  ======================================================
another Host           a website whose name was pointed to 127.0.0.1 (rebinding)
another Origin         another website, or a form on it, that sends answers
no cookie, or an old   anybody who does not know the token in the address
one
=====================  ======================================================

The token is exchanged for a cookie that is sent with requests of this page only
(SameSite=Strict) and that no script can read (HttpOnly). Both are new each time the
server starts.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Collection
from ipaddress import ip_address
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
    "Open the address that halfmoon label has printed, including its token. The token "
    "changes each time the command is started."
)


class Guard:
    """ASGI middleware that refuses requests from elsewhere.

    `hosts` are the allowed values of Host, such as ``127.0.0.1:8123``; with
    `any_address`, so is any IP address with this port, since rebinding needs a name.
    The port is also part of the name of the cookie: all ports of a machine share them.
    """

    def __init__(
        self,
        app: ASGIApp,
        hosts: Collection[str],
        token: str,
        port: int,
        any_address: bool = False,
    ) -> None:
        self.app, self.token = app, token
        self.port, self.any_address = port, any_address
        self.hosts = {host.lower() for host in hosts}
        self.cookie = f"halfmoon-{port}"
        self.secret = secrets.token_urlsafe(32)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
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
        """Return status and reason if the request comes from elsewhere."""
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._is_allowed(hosts[0].lower()):
            return 400, "This is not the address of the page."
        method, origin = scope["method"], headers.get("origin")
        if method not in (*READING, "POST"):
            return 405, "This method is not allowed."
        origins = {f"http://{host}" for host in (*self.hosts, hosts[0].lower())}
        if origin is not None and origin.lower() not in origins:
            return 403, "This request comes from another page."
        if method == "POST" and origin is None:
            return 403, "This request does not say which page it comes from."
        site = headers.get("sec-fetch-site", "none")
        if site not in ("same-origin", "none") and scope["path"] != "/":
            return 403, "This request comes from another page."
        return None

    def _is_allowed(self, host: str) -> bool:
        if host in self.hosts or not self.any_address:
            return host in self.hosts
        name, _, port = host.rpartition(":")
        try:
            ip_address(name.removeprefix("[").removesuffix("]"))
        except ValueError:
            return False
        return port == str(self.port)

    def _has_cookie(self, headers: Headers) -> bool:
        cookies = cookie_parser(headers.get("cookie", ""))
        return _same(cookies.get(self.cookie, ""), self.secret)

    def _has_token(self, scope: Scope) -> bool:
        if scope["path"] != "/" or scope["method"] not in READING:
            return False
        asked = QueryParams(scope["query_string"])
        return _same(asked.get("token", ""), self.token)


def _same(one: str, other: str) -> bool:
    """Compare in constant time."""
    return hmac.compare_digest(one.encode(), other.encode())

"""Who may talk to the viewer: a browser on this machine, at an address of this machine, from its own pages.

A page elsewhere may send requests to loopback, and a name that it controls may lead there (DNS rebinding). So the
`Host` must name loopback, and what changes something must come from a page of the viewer itself.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from aiohttp import web

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""What every answer carries: nothing but the viewer's own files may run, style or be sent to."""

SAFE_METHODS = frozenset({"GET", "HEAD"})


@web.middleware
async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse strangers, and put the security headers on every answer."""
    refusal = refused(request)
    if refusal:
        return web.Response(status=403, text=refusal, headers=HEADERS)
    try:
        response = await handler(request)
    except web.HTTPException as error:
        error.headers.update(HEADERS)
        raise
    if not response.prepared:
        response.headers.update(HEADERS)
    return response


def refused(request: web.Request) -> str:
    """Why a request is not answered; empty where it is."""
    if not is_loopback(request.headers.get("Host", "")):
        return "the viewer answers at 127.0.0.1 and localhost only\n"
    is_ours = request.headers.get("Sec-Fetch-Site", "none") in ("none", "same-origin")
    # Links from elsewhere may open a page of the viewer, but nothing else may look into it.
    is_link = request.method in SAFE_METHODS and request.headers.get("Sec-Fetch-Mode") == "navigate"
    if not (is_ours or is_link):
        return "the viewer answers its own pages only\n"
    if request.method not in SAFE_METHODS:
        origin = request.headers.get("Origin")
        if origin is None or origin != f"{request.scheme}://{request.headers['Host']}":
            return "the viewer takes changes from its own pages only\n"
    return ""


def is_loopback(host: str) -> bool:
    """Whether a `Host` header names this machine, whatever the port."""
    try:
        return urlsplit(f"//{host}").hostname in LOOPBACK
    except ValueError:
        return False

"""Which hosts a suite in a sandbox may call, decided on the address that is really called.

Names are compared exactly, in lower case and without a dot at the end. A host allowed as `name` is called on the
usual port of the scheme (443 for https, 80 for http), one allowed as `name:port` on that port. A vendor's own host is
called by https alone.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from evenhand.errors import ErrorClass, ProviderError
from evenhand.model.confinement import Confinement

PORTS = {"https": 443, "http": 80}

_UNSAFE = re.compile(r"[\x00-\x20\\\x7f]")
_ALLOWED = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(?P<port>\d{1,5}))?")


class Target(NamedTuple):
    """Where a call goes."""

    scheme: str
    host: str
    port: int


class HostGuard:
    """Refuses calls to other hosts than those of a list."""

    def __init__(self, own: tuple[str, ...], hosts: tuple[str, ...]) -> None:
        """`own` are addresses of the vendor itself, `hosts` what a person allowed."""
        self._own = frozenset(target for url in own if (target := target_of(url)) is not None)
        self._hosts = frozenset(host for text in hosts if (host := allowed_host(text)) is not None)

    def refusal(self, url: str) -> str | None:
        """Why an address may not be called, and what to add; None where it may."""
        target = target_of(url)
        if target is None:
            return f"{url[:200]!r} is no plain address of http or https, which a sandbox needs"
        if target in self._own:
            return None
        usual = PORTS[target.scheme] == target.port
        if (target.host, target.port) in self._hosts or (usual and (target.host, None) in self._hosts):
            return None
        name = target.host if usual else f"{target.host}:{target.port}"
        return f"a sandbox does not call {name!r}; allow it with `--allow-host {name}`"

    def check(self, url: str) -> None:
        """Raise `ProviderError` where an address may not be called."""
        refusal = self.refusal(url)
        if refusal is not None:
            raise ProviderError(refusal, ErrorClass.PROVIDER_REQUEST)


def target_of(url: str) -> Target | None:
    """Where an address leads, as the HTTP library reads it; None where that is in any doubt."""
    from yarl import URL

    if _UNSAFE.search(url):
        return None
    try:
        read = URL(url)
        scheme, host, port = read.scheme, read.raw_host, read.port
    except ValueError:
        return None
    if scheme not in PORTS or not host or port is None or read.user is not None or read.password is not None:
        return None
    return Target(scheme, host.lower().rstrip("."), port)


def allowed_host(text: str) -> tuple[str, int | None] | None:
    """A host as a person allows it, with its port where one is given; None for what is no host."""
    match = _ALLOWED.fullmatch(text.strip())
    if match is None:
        return None
    port = match["port"]
    if port is not None and not 0 < int(port) < 65_536:
        return None
    return match["name"].strip("[]").lower().rstrip("."), None if port is None else int(port)


def guard_of(confinement: Confinement | None, own: tuple[str, ...] = ()) -> HostGuard | None:
    """What keeps the calls of a provider to its hosts; None where nothing limits them."""
    if confinement is None or not confinement.is_sandbox:
        return None
    return HostGuard(own, confinement.hosts)

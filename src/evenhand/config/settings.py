"""A suite's top-level keys, with the environment's values filled in where settings may name them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.config.decode import decode_partly
from evenhand.config.document import SUPPORTED_VERSION, WrittenSuite, with_long_forms
from evenhand.config.files import Files
from evenhand.config.findings import Place
from evenhand.config.interpolate import interpolate
from evenhand.model.caching import CacheSettings
from evenhand.model.comparison import Gate
from evenhand.model.exchange import Tool
from evenhand.model.suite import Server

PROVIDERS = "providers"
TOOLS = "tools"
RUNNER = "runner"
CACHE = "cache"
SHARED = ("s3", "http")
"""Parts of the `cache` block that say where answers are shared."""
SERVERS = "servers"


def read_settings(
    document: Mapping[str, Any], root: Place, files: Files, environ: Mapping[str, str]
) -> WrittenSuite:
    """The written suite, without the keys that were reported."""
    is_whole = not root.findings.problem_count
    prepared = dict(document)
    if RUNNER in prepared:
        prepared[RUNNER] = with_long_forms(prepared[RUNNER])
    if TOOLS in prepared:
        prepared[TOOLS] = files.resolved(prepared[TOOLS], root.inside(TOOLS))
    if PROVIDERS in prepared:
        prepared[PROVIDERS] = interpolate(prepared[PROVIDERS], environ, root.inside(PROVIDERS))
    if isinstance(prepared.get(CACHE), dict):
        at = root.inside(CACHE)
        prepared[CACHE] = {
            name: interpolate(value, environ, at.inside(name)) if name in SHARED else value
            for name, value in prepared[CACHE].items()
        }
    written = decode_partly(WrittenSuite, prepared, root) or WrittenSuite()
    _check_version(written.version, root)
    _check_cache(written.cache, root.inside(CACHE))
    _check_tools(written.tools, root.inside(TOOLS))
    _check_servers(written.servers, root.inside(SERVERS))
    _check_gate(written.gate, root.inside("gate"))
    _check_patterns(written.runner.refusal_patterns, root.inside(RUNNER, "refusal_patterns"))
    if is_whole and not document.get(PROVIDERS, ()):
        root.report("the suite has no `providers`", "name at least one system under test")
    return written


def _check_version(version: int, root: Place) -> None:
    if version != SUPPORTED_VERSION:
        message = (
            f"version {version} of the suite language is not known, this evenhand knows {SUPPORTED_VERSION}"
        )
        hint = "upgrade evenhand" if version > SUPPORTED_VERSION else f"write `version: {SUPPORTED_VERSION}`"
        root.inside("version").report(message, hint)


def _check_cache(cache: CacheSettings, place: Place) -> None:
    shared = [name for name in SHARED if getattr(cache, name) is not None]
    if cache.backend == "layered" and len(shared) != 1:
        found = "both" if shared else "neither"
        place.inside("backend").report(
            f"a layered cache shares answers in one place, found {found} of `s3` and `http`",
            "keep one of them" if shared else "say where, with `s3: {bucket: …}` or `http: {url: …}`",
        )
    if cache.backend == "disk" and shared:
        message = f"`{shared[0]}` is not used with `backend: disk`"
        place.inside(shared[0]).report(message, "write `backend: layered`, or leave it out")


def _check_tools(tools: tuple[Tool, ...], place: Place) -> None:
    seen: dict[str, int] = {}
    for index, tool in enumerate(tools):
        if tool.name in seen:
            first = place.inside(seen[tool.name]).location
            place.inside(index).report(f"duplicate tool {tool.name!r}, first at {first}", "keep one of them")
        seen.setdefault(tool.name, index)
        if tool.input_schema is not None:
            _check_schema(tool.input_schema, place.inside(index, "input_schema"))


def _check_gate(gate: Gate | None, place: Place) -> None:
    if gate is not None and gate.max_regressions and gate.mode != "budget":
        place.inside("max_regressions").report(
            f"the mode {gate.mode!r} does not count regressions", "write `mode: budget`, or remove it"
        )


def _check_servers(servers: tuple[Server, ...], place: Place) -> None:
    from urllib.parse import urlsplit

    for index, server in enumerate(servers):
        try:
            address = urlsplit(server.url)
            known = bool(address.hostname) and address.port != 0
        except ValueError:
            known = False
        if not known:
            at = place.inside(index, "url")
            at.report(
                f"no address of a server, found {server.url!r}", "write it like `http://127.0.0.1:8000`"
            )


def _check_schema(schema: dict[str, Any], place: Place) -> None:
    from evenhand.text.schema import SchemaError, compile_schema

    try:
        compile_schema(schema)
    except SchemaError as error:
        place.report(str(error))


def _check_patterns(patterns: tuple[str, ...], place: Place) -> None:
    from evenhand.text.pattern import PatternError, compile_pattern

    for index, pattern in enumerate(patterns):
        try:
            compile_pattern(pattern)
        except PatternError as error:
            place.inside(index).report(f"the pattern is wrong: {error}")

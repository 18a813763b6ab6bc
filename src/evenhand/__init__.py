"""evenhand tests systems built on language models: a green result means that something was checked and held.

What is public is listed in `__all__`. Names are imported when they are first used, so that `evenhand --version`
need not wait for the engine.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from evenhand.version import __version__

if TYPE_CHECKING:
    from evenhand.api import FinishedRun, RunOptions, load_suite, run_suite, run_suite_async
    from evenhand.errors import (
        BrokenAssertion,
        ErrorClass,
        EvenhandError,
        ExitCode,
        GeneratorError,
        PluginError,
        Problem,
        ProviderError,
        ServerError,
        StoreError,
        SuiteError,
        UsageError,
    )
    from evenhand.model.assertion import ASSERTIONS, Assertion, Example
    from evenhand.model.evidence import Evidence
    from evenhand.model.exchange import Message, Request, Response, Tool, ToolCall, Usage
    from evenhand.model.outcome import Outcome, Status, failed, passed, verdict
    from evenhand.model.provider import PROVIDERS, Provider, ProviderContext, Session
    from evenhand.model.result import AssertResult, CaseResult, CaseStatus, Run, RunStatus, Summary
    from evenhand.model.suite import Case, Prompt, Runner, Suite
    from evenhand.template import Val

__all__ = [
    "ASSERTIONS",
    "PROVIDERS",
    "AssertResult",
    "Assertion",
    "BrokenAssertion",
    "Case",
    "CaseResult",
    "CaseStatus",
    "ErrorClass",
    "EvenhandError",
    "Evidence",
    "Example",
    "ExitCode",
    "FinishedRun",
    "GeneratorError",
    "Message",
    "Outcome",
    "PluginError",
    "Problem",
    "Prompt",
    "Provider",
    "ProviderContext",
    "ProviderError",
    "Request",
    "Response",
    "Run",
    "RunOptions",
    "RunStatus",
    "Runner",
    "ServerError",
    "Session",
    "Status",
    "StoreError",
    "Suite",
    "SuiteError",
    "Summary",
    "Tool",
    "ToolCall",
    "Usage",
    "UsageError",
    "Val",
    "__version__",
    "failed",
    "load_suite",
    "passed",
    "run_suite",
    "run_suite_async",
    "verdict",
]

_HOMES = {
    "evenhand.api": ("FinishedRun", "RunOptions", "load_suite", "run_suite", "run_suite_async"),
    "evenhand.errors": (
        "BrokenAssertion",
        "ErrorClass",
        "EvenhandError",
        "ExitCode",
        "GeneratorError",
        "PluginError",
        "Problem",
        "ProviderError",
        "ServerError",
        "StoreError",
        "SuiteError",
        "UsageError",
    ),
    "evenhand.model.assertion": ("ASSERTIONS", "Assertion", "Example"),
    "evenhand.model.evidence": ("Evidence",),
    "evenhand.model.exchange": ("Message", "Request", "Response", "Tool", "ToolCall", "Usage"),
    "evenhand.model.outcome": ("Outcome", "Status", "failed", "passed", "verdict"),
    "evenhand.model.provider": ("PROVIDERS", "Provider", "ProviderContext", "Session"),
    "evenhand.model.result": ("AssertResult", "CaseResult", "CaseStatus", "Run", "RunStatus", "Summary"),
    "evenhand.model.suite": ("Case", "Prompt", "Runner", "Suite"),
    "evenhand.template": ("Val",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'evenhand' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

"""Where kept answers are, and the cache of a run made ready."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from evenhand.cache.answers import AnswerCache, Redacting
from evenhand.cache.tier import Tier
from evenhand.errors import UsageError
from evenhand.model.caching import CacheSettings

DIRECTORY_VARIABLE = "EVENHAND_CACHE_DIR"
"""Environment variable that names the folder of kept answers."""
FOLDER_NAME = "cache"


def cache_directory(asked: str | None, environ: Mapping[str, str], state: Path | None) -> Path | None:
    """The folder of kept answers: the one asked for, else that of the environment, else one in the state folder.

    None where there is none, as in a run that is kept in memory.
    """
    named = asked or environ.get(DIRECTORY_VARIABLE, "").strip()
    if named:
        return Path(os.path.expanduser(named)).absolute()  # noqa: PTH111  (`Path.expanduser` raises without a home)
    return None if state is None else state / FOLDER_NAME


def open_cache(
    directory: Path,
    settings: CacheSettings,
    redactor: Redacting,
    *,
    only: bool = False,
    environ: Mapping[str, str] = os.environ,
) -> AnswerCache:
    """The kept answers of one run. Raises `UsageError` where the shared storage cannot be used as it is set up."""
    return AnswerCache(directory, redactor, only=only, tier=_tier(settings, environ))


def _tier(settings: CacheSettings, environ: Mapping[str, str]) -> Tier | None:
    if settings.backend != "layered":
        return None
    if settings.http is not None:
        from evenhand.cache.http_tier import HttpTier

        name = settings.http.token_env
        token = environ.get(name, "").strip() if name else None
        if name and not token:
            raise UsageError(f"`cache.http.token_env`: {name} is not set; set it, or leave the key out")
        return HttpTier(settings.http.url, token)
    if settings.s3 is not None:
        from evenhand.cache.s3_tier import S3Tier

        return S3Tier(settings.s3)
    return None

"""Shared answers in a bucket of S3, or of a storage that is compatible with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from evenhand.cache.entry import MAX_ENTRY_BYTES
from evenhand.cache.tier import TierUnavailable
from evenhand.errors import UsageError
from evenhand.model.caching import S3Settings

TIMEOUT = "10s"
_IN_MESSAGES = 300
"""Characters of what the library says that messages repeat."""


class S3Tier:
    """A bucket; credentials come from the environment, as `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`."""

    def __init__(self, settings: S3Settings) -> None:
        """Raises `UsageError` where the library is missing or does not take the settings."""
        try:
            import obstore
            import obstore.exceptions
            from obstore.store import S3Store
        except ImportError:
            raise UsageError(
                "a shared cache in S3 needs the package `obstore`; install it with `pip install 'evenhand[s3]'`"
            ) from None
        self._obstore: Any = obstore
        self._errors: Any = obstore.exceptions
        self.name = f"the shared cache in bucket {settings.bucket!r}"
        self._prefix = settings.prefix.strip("/")
        endpoint = settings.endpoint
        options: dict[str, Any] = {
            "region": settings.region or "us-east-1",
            "virtual_hosted_style_request": endpoint is None and not settings.force_path_style,
        }
        if endpoint is not None:
            options["endpoint"] = endpoint
        try:
            self._store: Any = S3Store(
                settings.bucket,
                client_options={"allow_http": True, "timeout": TIMEOUT, "connect_timeout": "3s"},
                retry_config={"max_retries": 1},
                **options,
            )
        except Exception as error:  # noqa: BLE001  (the library raises its own and built-in kinds)
            raise UsageError(f"`cache.s3`: {str(error)[:_IN_MESSAGES]}") from None

    async def get(self, key: str) -> bytes | None:
        """What lies under a key; None for nothing. Raises `TierUnavailable`."""
        with self._translated():
            try:
                found = await self._obstore.get_async(self._store, self._path(key))
            except (FileNotFoundError, self._errors.NotFoundError):
                return None
            if found.meta["size"] > MAX_ENTRY_BYTES:
                return None
            return bytes(await found.bytes_async())
        raise AssertionError

    async def has(self, key: str) -> bool:
        """Whether something lies under a key. Raises `TierUnavailable`."""
        with self._translated():
            try:
                await self._obstore.head_async(self._store, self._path(key))
            except (FileNotFoundError, self._errors.NotFoundError):
                return False
        return True

    async def put(self, key: str, body: bytes) -> None:
        """Lay something down, unless something lies there. Raises `TierUnavailable`.

        Asked for beforehand too: some storages ignore the condition of the write.
        """
        if await self.has(key):
            return
        with self._translated():
            try:
                await self._obstore.put_async(self._store, self._path(key), body, mode="create")
            except self._errors.AlreadyExistsError:
                return
            except self._errors.NotSupportedError:
                await self._obstore.put_async(self._store, self._path(key), body)

    async def close(self) -> None:
        """Nothing stays open."""

    def _path(self, key: str) -> str:
        name = key.removeprefix("sha256:")
        return f"{self._prefix}/{name[:2]}/{name}" if self._prefix else f"{name[:2]}/{name}"

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (self._errors.BaseError, OSError) as error:
            first = " ".join(str(error).split())
            raise TierUnavailable(first[:_IN_MESSAGES]) from None

"""Cache salts that follow the content of files: `cache_salt: "$digest: prompts/**/*.md"`.

The salt is `blake3:` and the hexadecimal BLAKE3 hash over the matching files, sorted by path: for each its path
relative to the suite's folder, a NUL byte, its bytes, a NUL byte.
"""

from __future__ import annotations

from blake3 import blake3

from evenhand.config.regular_file import open_regular, reason_of
from evenhand.config.sandbox import FoundFile, Sandbox
from evenhand.errors import Location, Problem, SuiteError

DIGEST_MARK = "$digest:"

MAX_DIGEST_BYTES = 4 * 1024**3
"""Bytes that one salt may be computed from."""

MAX_KEPT_SALTS = 10_000
"""Patterns whose salts are kept for the cases that follow."""

_CHUNK_BYTES = 1024 * 1024


def digest_pattern(salt: str) -> str | None:
    """The pattern of a salt that follows files, or None for a salt that is text of its own."""
    text = salt.strip()
    return text.removeprefix(DIGEST_MARK).strip() if text.startswith(DIGEST_MARK) else None


class Digests:
    """The salts of one load; a pattern that many cases share is computed once."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._salts: dict[str, str] = {}

    def salt_of(self, pattern: str) -> str:
        """The salt for the files that a pattern matches now. Raises `SuiteError`, also where it matches none."""
        salt = self._salts.get(pattern)
        if salt is None:
            salt = _salt(self._sandbox.data_files(pattern))
            if len(self._salts) < MAX_KEPT_SALTS:
                self._salts[pattern] = salt
        return salt


def _salt(files: list[FoundFile]) -> str:
    hasher = blake3()
    left = MAX_DIGEST_BYTES
    for file in files:
        hasher.update(file.relative.encode() + b"\0")
        with open_regular(file.path, file.name) as stream:
            try:
                while chunk := stream.read(_CHUNK_BYTES):
                    left -= len(chunk)
                    if left < 0:
                        found = f"the files are larger than {MAX_DIGEST_BYTES // 1024**3} GiB together"
                        raise _unusable(file, found, "name fewer files in `$digest`")
                    hasher.update(chunk)
            except OSError as error:
                raise _unusable(file, f"cannot be read: {reason_of(error)}", "") from None
        hasher.update(b"\0")
    return f"blake3:{hasher.hexdigest()}"


def _unusable(file: FoundFile, message: str, hint: str) -> SuiteError:
    return SuiteError([Problem(message, hint=hint, location=Location(file.name))])

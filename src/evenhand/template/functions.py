"""The filters and functions that evenhand adds to the template language.

Each takes plain JSON values and raises `FilterError`; `install` adapts them to the engine. Messages never hold
values: they may be secret.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import msgspec

from evenhand.template.clock import now
from evenhand.template.display import TooDeep, display_text
from evenhand.template.faults import FilterError
from evenhand.text.json_reader import NotJson, read_json


def text_of(value: Any) -> str:
    """What a filter over text works on: a text, or how another value is printed."""
    if value is None:
        raise FilterError("needs a text, found an undefined value or none")
    try:
        return display_text(value)
    except TooDeep as error:
        raise FilterError(str(error)) from None


def json_text(value: Any) -> str:
    """A value as compact JSON, keys in order."""
    try:
        try:
            return _encode(value).decode()
        except ValueError:
            # Python writes no integer of more than 4,300 digits.
            return _encode(_with_decimals(value)).decode()
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError):
        raise FilterError("cannot be written as JSON") from None


_encode = msgspec.json.Encoder(order="sorted", decimal_format="number").encode


def _with_decimals(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        return Decimal(value)
    if isinstance(value, Mapping):
        return {key: _with_decimals(item) for key, item in value.items()}
    return [_with_decimals(item) for item in value] if isinstance(value, (list, tuple)) else value


def json_decode(value: Any) -> Any:
    """The value of a JSON text."""
    decoded = read_json(text_of(value))
    if isinstance(decoded, NotJson):
        raise FilterError("needs a JSON text, found something else")
    return decoded


def base64_encode(value: Any) -> str:
    """The UTF-8 bytes of a text in base64."""
    return base64.b64encode(text_of(value).encode()).decode()


def base64_decode(value: Any) -> str:
    """The text whose UTF-8 bytes a base64 text holds."""
    try:
        return base64.b64decode(text_of(value).encode(), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        raise FilterError("needs base64 of UTF-8 text, found something else") from None


def sha256(value: Any) -> str:
    """SHA-256 of a text's UTF-8 bytes, in hexadecimal."""
    return hashlib.sha256(text_of(value).encode()).hexdigest()


def md5(value: Any) -> str:
    """MD5 of a text's UTF-8 bytes, in hexadecimal; a checksum, no protection."""
    return hashlib.md5(text_of(value).encode(), usedforsecurity=False).hexdigest()


def blake3(value: Any) -> str:
    """BLAKE3 of a text's UTF-8 bytes, in hexadecimal."""
    return _blake3_digest(text_of(value).encode()).hex()


def regex_replace(value: Any, pattern: Any, replacement: Any) -> str:
    """The text with every match of a pattern replaced; `$1` in the replacement is the first group."""
    from evenhand.text.pattern import PatternError, PatternLimitExceeded, compile_pattern

    try:
        compiled = compile_pattern(text_of(pattern))
    except PatternError:
        raise FilterError("needs a valid regular expression as pattern", argument=1) from None
    try:
        return compiled.replace(text_of(value), text_of(replacement))
    except PatternError as error:
        raise FilterError(f"cannot use the replacement: {error.message}", argument=2) from None
    except PatternLimitExceeded:
        raise FilterError("takes too many steps; simplify the pattern", depends_on_data=False) from None


def regex_match(value: Any, pattern: Any) -> bool:
    """Whether a pattern matches anywhere in a text."""
    from evenhand.text.pattern import PatternError, PatternLimitExceeded, compile_pattern

    try:
        return compile_pattern(text_of(pattern)).search(text_of(value))
    except PatternError:
        raise FilterError("needs a valid regular expression as pattern", argument=1) from None
    except PatternLimitExceeded:
        raise FilterError("takes too many steps; simplify the pattern", depends_on_data=False) from None


def slugify(value: Any) -> str:
    """ASCII letters and digits in lower case, runs of anything else as one `-`."""
    return "-".join(re.findall(r"[A-Za-z0-9]+", text_of(value))).lower()


def truncate(value: Any, length: Any) -> str:
    """The first `length` characters of a text."""
    return text_of(value)[: whole_number(length, "a length")]


def uuid(seed: Any) -> str:
    """A version 4 UUID that depends on the seed alone: the first 16 bytes of BLAKE3 over the seed's JSON."""
    digest = bytearray(_seeded(seed)[:16])
    digest[6] = digest[6] & 0x0F | 0x40
    digest[8] = digest[8] & 0x3F | 0x80
    text = digest.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def rand(seed: Any) -> float:
    """A number in [0, 1) that depends on the seed alone: 53 bits of BLAKE3 over the seed's JSON."""
    return (int.from_bytes(_seeded(seed)[:8], "little") >> 11) / 2**53


def randint(low: Any, high: Any, seed: Any) -> int:
    """An integer from `low` to `high`, both included, that depends on the seed alone."""
    least, most = _integer(low), _integer(high)
    if most < least:
        raise FilterError("needs a lower bound that is not above the upper one")
    return least + int.from_bytes(_seeded(seed)[:8], "little") % (most - least + 1)


def _integer(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise FilterError("needs whole numbers as bounds")
    return value


def whole_number(value: Any, what: str, limit: int | None = None) -> int:
    """An argument that counts something."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise FilterError(f"needs {what} that is a whole number, 0 or more")
    if limit is not None and value > limit:
        raise FilterError(f"needs {what} of at most {limit:,}", depends_on_data=False)
    return value


def _seeded(seed: Any) -> bytes:
    if seed is None:
        raise FilterError("needs a seed, found an undefined value or none")
    return _blake3_digest(json_text(seed).encode())


def _blake3_digest(data: bytes) -> bytes:
    try:
        from blake3 import blake3 as hasher
    except ImportError:
        raise FilterError(
            "needs the package `blake3`; install it with `pip install blake3`", depends_on_data=False
        ) from None
    digest: bytes = hasher(data).digest()
    return digest


FILTERS: dict[str, Callable[..., Any]] = {
    "json_encode": json_text,
    "to_json": json_text,
    "json_decode": json_decode,
    "from_json": json_decode,
    "b64encode": base64_encode,
    "b64decode": base64_decode,
    "sha256": sha256,
    "md5": md5,
    "blake3": blake3,
    "regex_replace": regex_replace,
    "regex_match": regex_match,
    "slugify": slugify,
    "truncate": truncate,
}

FUNCTIONS: dict[str, Callable[..., Any]] = {"now": now, "uuid": uuid, "rand": rand, "randint": randint}

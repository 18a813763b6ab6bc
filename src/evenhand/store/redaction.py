"""Finding the values of secrets in whatever is stored or shown, and taking them out.

A secret is looked for as it is, escaped inside JSON text, percent-encoded as in a URL, and in base64. What was
transformed in another way (hashed, encrypted, spelled out) is not found.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote, quote_plus, urlsplit

import msgspec

from evenhand.store.rebuilding import Value, rebuilt

REPLACEMENT = "[redacted]"
"""What stands where a secret was: it needs no escaping in JSON, XML, HTML, URLs or terminals."""

MINIMUM_LENGTH = 8
"""Shorter values are words and numbers that stand everywhere: taking them out would ruin results for no safety."""

_PATTERN_BYTES = 256 << 20
_URL_SAFE_BASE64 = str.maketrans("+/", "-_")
_SECRET_WORDS = frozenset(
    {
        *("key", "keys", "apikey", "apikeys", "pass", "pwd", "auth", "authorization", "bearer"),
        *("private", "cred", "creds", "pat"),
    }
)
_SECRET_ENDINGS = (
    *("token", "tokens", "secret", "secrets", "password", "passwords", "passwd", "passphrase"),
    *("credential", "credentials", "apikey"),
)
_HARMLESS_NAMES = frozenset({"pwd", "oldpwd", "ssh_auth_sock", "xauthority"})
_HARMLESS_WORDS = frozenset(
    {
        *("path", "file", "dir", "directory", "sock", "socket", "public", "pub", "name", "type", "mode"),
        *("url", "uri", "host", "port", "domain", "endpoint", "region"),
    }
)


def secret_values(environ: Mapping[str, str], named: Iterable[str] = ()) -> tuple[str, ...]:
    """The values that must not be stored or shown, longest first.

    Those are the variables with a secret-looking name (`OPENAI_API_KEY`, `GITHUB_TOKEN`, `DB_PASSWORD`), passwords
    inside URLs (`DATABASE_URL`), and every variable in `named`, which is what `api_key_env` mentions. Values under
    eight characters are left out, and so are names that say where a secret is and not what it is (`KEY_FILE`).
    """
    chosen = {environ[name] for name in named if name in environ}
    for name, value in environ.items():
        if _looks_secret(name):
            chosen.add(value)
        elif "://" in value:
            chosen.update(_password_in_url(value))
    stripped = {value.strip() for value in chosen}
    return tuple(
        sorted((value for value in stripped if len(value) >= MINIMUM_LENGTH), key=lambda v: (-len(v), v))
    )


def _looks_secret(name: str) -> bool:
    lowered = name.lower()
    words = set(re.split(r"[^a-z]+", lowered))
    if lowered in _HARMLESS_NAMES or words & _HARMLESS_WORDS:
        return False
    return bool(words & _SECRET_WORDS) or any(word.endswith(_SECRET_ENDINGS) for word in words)


def _password_in_url(text: str) -> Iterator[str]:
    try:
        password = urlsplit(text).password
    except ValueError:
        return
    if password:
        yield password


class Redactor:
    """Takes secrets out of texts, values and JSON documents.

    All forms of all secrets are searched for at once: a document without any costs about 0.2 µs per KB for a handful
    of secrets, and some 2 µs for a hundred.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        forms = {
            form for secret in secrets for form in _forms(_decodable(secret)) if len(form) >= MINIMUM_LENGTH
        }
        self._forms = tuple(sorted(forms, key=lambda form: (-len(form), form)))
        self._found = _search_for({_inside_json(form) for form in self._forms}) if forms else None

    def found_in(self, document: bytes) -> bool:
        """Whether a JSON document, as msgspec writes it, holds a secret."""
        return self._found is not None and self._found(document.decode("utf-8", "replace"))

    def clean_text(self, text: str) -> str:
        """The text with every secret replaced."""
        for form in self._forms:
            if form in text:
                text = text.replace(form, REPLACEMENT)
        return text

    def clean_value(self, value: Value) -> Value:
        """A value, or a struct, without secrets in its texts and data. Fields of structs keep their names and types."""
        return rebuilt(value, self.clean_text) if self._forms else value

    def clean_bytes(self, document: bytes) -> bytes:
        """A JSON document without secrets, valid as before; the same object where there was none.

        Bytes that are no JSON are cleaned as text.
        """
        if not self.found_in(document):
            return document
        try:
            return msgspec.json.encode(self.clean_value(msgspec.json.decode(document)))
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            return self.clean_text(document.decode("utf-8", "replace")).encode()


class EnvironmentRedactor(Redactor):
    """Takes the secrets of an environment out, those too that are put into it later.

    Code under test may load its keys itself, from a `.env` file say. The environment is looked at again whenever a
    document is searched; a secret that was there once stays one.
    """

    def __init__(
        self, environ: Mapping[str, str], *, named: Iterable[str] = (), further: Iterable[str] = ()
    ) -> None:
        """`named` are variables that hold secrets whatever they are called, `further` secrets from elsewhere."""
        self._environ = environ
        self._named = frozenset(named)
        self._seen: dict[str, str] = {}
        self._below: dict[Any, Any] | None = None
        self._secrets = set(further)
        super().__init__(self._secrets)
        self._look_again()

    def found_in(self, document: bytes) -> bool:
        self._look_again()
        return super().found_in(document)

    def _look_again(self) -> None:
        # Copying the environment decodes all of it, for every document; what stands below compares in a microsecond.
        below = getattr(self._environ, "_data", None)
        if below is not None and below == self._below:
            return
        try:
            self._below = None if below is None else dict(below)
            seen = dict(self._environ)
        except (KeyError, RuntimeError):  # It changes at this moment; the next look finds out.
            return
        if seen == self._seen:
            return
        self._seen = seen
        secrets = self._secrets.union(secret_values(seen, self._named))
        if secrets != self._secrets:
            self._secrets = secrets
            super().__init__(secrets)


def _decodable(secret: str) -> str:
    """An environment value that is not UTF-8 as an output that repeats it is read."""
    return secret.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _forms(secret: str) -> Iterator[str]:
    """What a secret looks like where it appears in a text."""
    yield secret
    yield _inside_json(secret)
    yield json.dumps(secret)[1:-1]
    for percent_encode in (quote, quote_plus):
        yield percent_encode(secret)
        yield percent_encode(secret, safe="")
    data = secret.encode()
    for offset in range(3):
        # The characters that depend on the secret alone, whatever stands before and after it in the encoded bytes.
        first = -(-offset * 8 // 6)
        end = (offset + len(data)) * 8 // 6
        encoded = base64.b64encode(bytes(offset) + data).decode()[first:end]
        yield encoded
        yield encoded.translate(_URL_SAFE_BASE64)


def _inside_json(text: str) -> str:
    """The text as it stands between the quotes of a JSON string."""
    return msgspec.json.encode(text).decode()[1:-1]


def _search_for(forms: Collection[str]) -> Callable[[str], bool]:
    """A function that says whether a text contains any of the forms.

    The engine behind `pattern` in jsonschema-rs looks for many literals in one pass; `form in text` for each form
    takes twenty times as long for a handful of secrets.
    """
    from jsonschema_rs import Draft202012Validator, RegexOptions

    pattern = "|".join(_literal(form) for form in sorted(forms))
    options = RegexOptions(size_limit=_PATTERN_BYTES, dfa_size_limit=_PATTERN_BYTES)
    return Draft202012Validator({"pattern": pattern}, pattern_options=options).is_valid


def _literal(text: str) -> str:
    """A pattern that matches exactly this text."""
    return "".join(c if c.isalnum() else f"\\u{{{ord(c):x}}}" for c in text)

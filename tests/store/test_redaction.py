"""Secrets and how they are taken out."""

from __future__ import annotations

import base64
import json
from typing import Any
from urllib.parse import quote, quote_plus

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.model.result import CaseResult
from evenhand.store.redaction import REPLACEMENT, EnvironmentRedactor, Redactor, secret_values
from support.stored_results import a_result, a_run, json_values
from support.vectors import row_id, rows

SECRET = 'sk-live/4f+9Zq=wörd"x'


@pytest.mark.parametrize(
    "name",
    [
        *("OPENAI_API_KEY", "GITHUB_TOKEN", "DB_PASSWORD", "AWS_SECRET_ACCESS_KEY", "PGPASSWD", "HTTP_AUTH"),
        *(
            "GOOGLE_CREDENTIALS",
            "SSH_PRIVATE_DATA",
            "authToken",
            "apikey",
            "MY_SECRETS",
            "API_KEY_2",
            "GH_PAT",
        ),
    ],
)
def test_variables_with_secret_looking_names_are_secret(name: str) -> None:
    assert secret_values({name: "0123456789abcdef"}) == ("0123456789abcdef",)


@pytest.mark.parametrize(
    "name",
    [
        *("PATH", "HOME", "PWD", "OLDPWD", "KEYBOARD_LAYOUT", "GIT_AUTHOR_NAME", "MONKEY", "SSH_AUTH_SOCK"),
        *(
            "KEY_FILE",
            "SECRET_NAME",
            "AUTH_URL",
            "TOKENIZERS_MODE",
            "PUBLIC_KEY",
            "AUTHOR",
            "ENCOMPASS",
            "PASSENGER",
        ),
    ],
)
def test_variables_with_other_names_are_not(name: str) -> None:
    assert secret_values({name: "0123456789abcdef"}) == ()


def test_variables_that_the_suite_names_are_secret_whatever_they_are_called() -> None:
    environ = {"PROD": "0123456789abcdef", "OTHER": "fedcba9876543210"}
    assert secret_values(environ, ["PROD", "MISSING"]) == ("0123456789abcdef",)


def test_secrets_that_come_later_are_found_and_stay_secret_when_they_go() -> None:
    environ = {"A_KEY": "0123456789abcdef"}
    redactor = EnvironmentRedactor(environ)
    late = b'{"output":"fedcba9876543210"}'
    assert not redactor.found_in(late)
    environ["B_KEY"] = "fedcba9876543210"
    assert redactor.clean_bytes(late) == b'{"output":"[redacted]"}'
    environ.clear()
    assert redactor.found_in(late)
    assert redactor.found_in(b'{"output":"0123456789abcdef"}')


def test_short_values_are_no_secrets_and_white_space_around_them_is_not_part_of_them() -> None:
    environ = {
        "A_KEY": "1234567",
        "MAX_TOKENS": "4096",
        "B_KEY": " 12345678\n",
        "C_KEY": "",
        "USE_TOKEN": "true",
    }
    assert secret_values(environ) == ("12345678",)


def test_password_inside_an_url_is_secret() -> None:
    environ = {
        "DATABASE_URL": "postgres://app:correct-horse@db/x",
        "BAD": "http://[",
        "SITE": "https://example.com",
    }
    assert secret_values(environ) == ("correct-horse",)


def test_longest_secrets_come_first() -> None:
    assert secret_values({"A_KEY": "12345678", "B_KEY": "1234567890"}) == ("1234567890", "12345678")


def test_variables_that_are_not_utf8_are_found_as_they_are_read_back() -> None:
    raw = b"key-\xff\xfe-0123456789"
    redactor = Redactor(secret_values({"A_KEY": raw.decode("utf-8", "surrogateescape")}))
    assert redactor.clean_text(raw.decode("utf-8", "replace")) == REPLACEMENT


FORMS = {
    "plain": SECRET,
    "json": json.dumps(SECRET, ensure_ascii=False)[1:-1],
    "ascii json": json.dumps(SECRET)[1:-1],
    "url": quote(SECRET, safe=""),
    "path": quote(SECRET),
    "form": quote_plus(SECRET),
    "basic": base64.b64encode(f"user:{SECRET}".encode()).decode(),
    "base64": base64.b64encode(SECRET.encode()).decode(),
    "url base64": base64.urlsafe_b64encode(f"a:{SECRET}:b".encode()).decode(),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_every_form_of_a_secret_is_found(form: str) -> None:
    redactor = Redactor([SECRET])
    assert REPLACEMENT in redactor.clean_text(f"before {form} after")
    document = msgspec.json.encode({"a": f"x{form}y"})
    assert redactor.found_in(document)
    cleaned = redactor.clean_bytes(document)
    assert REPLACEMENT in msgspec.json.decode(cleaned)["a"]
    assert not redactor.found_in(cleaned)


@given(st.binary(min_size=8, max_size=40), st.binary(max_size=5), st.binary(max_size=5))
def test_secret_is_found_at_any_place_inside_base64(secret: bytes, before: bytes, after: bytes) -> None:
    text = secret.decode("latin-1")
    encoded = base64.b64encode(before + text.encode() + after).decode()
    assert REPLACEMENT in Redactor([text]).clean_text(encoded)


secrets = st.text(st.characters(exclude_categories=["Cs"]), min_size=8, max_size=16)


@given(
    st.lists(secrets, min_size=1, max_size=5),
    st.lists(st.text(max_size=8), min_size=1, max_size=5),
    st.data(),
)
def test_search_finds_exactly_what_one_search_after_the_other_finds(
    chosen: list[str], fill: list[str], data: st.DataObject
) -> None:
    redactor = Redactor(chosen)
    pieces = data.draw(st.lists(st.sampled_from([*chosen, *fill, *(s[:-1] for s in chosen)]), max_size=6))
    try:
        document = msgspec.json.encode("".join(pieces))
    except UnicodeEncodeError:
        return
    written = [msgspec.json.encode(form)[1:-1] for form in redactor._forms]
    assert redactor.found_in(document) == any(form in document for form in written)


@given(secrets, json_values)
def test_cleaned_document_is_json_without_the_secret(secret: str, value: Any) -> None:
    redactor = Redactor([secret])
    document = msgspec.json.encode({"value": value, "seen": f"a{secret}b", secret: [secret]})
    cleaned = redactor.clean_bytes(document)
    again = msgspec.json.decode(cleaned)
    assert again["seen"] == redactor.clean_text(f"a{secret}b")
    assert REPLACEMENT in again["seen"]
    assert again[redactor.clean_text(secret)] == [redactor.clean_text(secret)]


def test_document_without_secrets_is_the_same_object() -> None:
    document = b'{"a":"nothing here"}'
    assert Redactor([SECRET]).clean_bytes(document) is document
    assert Redactor([]).clean_bytes(document) is document
    assert Redactor([]).clean_text("text") == "text"


def test_number_that_is_a_secret_becomes_text_and_the_document_stays_json() -> None:
    cleaned = Redactor(["12345678"]).clean_bytes(b'{"pin":12345678,"list":[0,112345678.5],"other":1234567}')
    assert msgspec.json.decode(cleaned) == {
        "pin": REPLACEMENT,
        "list": [0, f"1{REPLACEMENT}.5"],
        "other": 1234567,
    }


def test_secret_that_looks_like_structure_does_not_break_the_document() -> None:
    document = b'{"a":[1,1,1,1,1,1],"b":"1,1,1,1,1"}'
    cleaned = Redactor(["1,1,1,1,1"]).clean_bytes(document)
    assert msgspec.json.decode(cleaned) == {"a": [1, 1, 1, 1, 1, 1], "b": REPLACEMENT}


def test_names_of_fields_stay_when_a_secret_is_one_of_them() -> None:
    redactor = Redactor(["provider_id", "metadata"])
    result = a_result(output="see provider_id", metadata={"provider_id": 1})
    cleaned = redactor.clean_value(result)
    assert cleaned.cell.provider_id == "echo"
    assert cleaned.output == f"see {REPLACEMENT}"
    assert cleaned.metadata == {REPLACEMENT: 1}
    assert msgspec.json.decode(msgspec.json.encode(cleaned), type=CaseResult) == cleaned


def test_numbers_in_typed_fields_stay_numbers() -> None:
    redactor = Redactor(["12345678"])
    result = a_result(latency_ms=12345678.0, vars={"pin": 12345678}, named_scores={"12345678": 12345678.0})
    cleaned = redactor.clean_value(result)
    assert cleaned.latency_ms == 12345678.0
    assert cleaned.vars == {"pin": REPLACEMENT}
    assert cleaned.named_scores == {REPLACEMENT: 12345678.0}


def test_bytes_that_are_no_json_are_cleaned_as_text() -> None:
    assert (
        Redactor(["0123456789"]).clean_bytes(b"\xff key=0123456789") == f"\ufffd key={REPLACEMENT}".encode()
    )


def test_run_with_secrets_in_its_configuration_is_cleaned() -> None:
    run = a_run(config_snapshot={"headers": {"Authorization": f"Bearer {SECRET}"}})
    assert Redactor([SECRET]).clean_value(run).config_snapshot == {
        "headers": {"Authorization": f"Bearer {REPLACEMENT}"}
    }


def test_a_hundred_secrets_are_searched_for_at_once() -> None:
    chosen = [f"secret-number-{place}-of-many-{place * 7919}" for place in range(100)]
    redactor = Redactor(chosen)
    text = "x" * 100_000
    assert not redactor.found_in(msgspec.json.encode(text))
    assert all(redactor.found_in(msgspec.json.encode(text + secret)) for secret in chosen)


@pytest.mark.parametrize(
    "row", [r for r in rows("field-cases") if r["id"] == "secret-header-in-results"], ids=row_id
)
def test_rendered_header_is_absent_everywhere(row: dict[str, Any]) -> None:
    secret = row["expected"]["absent_everywhere"]
    redactor = Redactor([secret])
    result = a_result(
        request=row["input"]["provider"], error=f"401 for {secret}", raw=json.dumps(row["input"])
    )
    assert secret.encode() in msgspec.json.encode(result)
    assert secret.encode() not in msgspec.json.encode(redactor.clean_value(result))

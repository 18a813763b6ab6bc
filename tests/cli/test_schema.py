from __future__ import annotations

import json

import jsonschema_rs
import yaml

from support.results import SAMPLE_CASES, SAMPLE_RUN, rendered
from support.suites_on_disk import BROKEN, SUITE


def test_suite_schema_accepts_a_suite_and_refuses_a_broken_one(evenhand) -> None:
    schema = json.loads(evenhand("schema", "suite").out)
    validator = jsonschema_rs.validator_for(schema, offline=True)
    assert validator.is_valid(yaml.safe_load(SUITE))
    assert not validator.is_valid(yaml.safe_load(BROKEN))


def test_run_schema_accepts_a_run_document_and_refuses_another(evenhand) -> None:
    schema = json.loads(evenhand("schema", "run").out)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    validator = jsonschema_rs.validator_for(schema, offline=True)
    document = json.loads(rendered("json", SAMPLE_RUN, SAMPLE_CASES))
    assert validator.is_valid(document)
    assert not validator.is_valid({**document, "cases": [{"status": "pass"}]})


def test_there_are_two_schemas(evenhand) -> None:
    done = evenhand("schema", "result")
    assert done.code == 2
    assert "'result' is not one of 'suite', 'run'" in done.err

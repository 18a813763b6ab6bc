"""Checks that suites call by name; each gets the output and the context."""

import re
from datetime import date


def stays(output, context):
    first, last = (date.fromisoformat(text) for text in re.findall(r"\d{4}-\d\d-\d\d", output))
    nights = (last - first).days
    return {
        "pass": nights == context["vars"]["nights"] and nights <= context["config"]["longest"],
        "score": 1.0,
        "reason": f"{nights} nights",
        "named_scores": {"nights": nights},
    }

"""The system under test: one JSON document in, one out. A program in any other language does it the same way."""

import json
import sys

CAPITALS = {"France": "Paris", "Spain": "Madrid", "Japan": "Tokyo"}


def answer(prompt: str) -> str:
    """Put a call of your own application in place of the table."""
    for country, capital in CAPITALS.items():
        if country in prompt:
            return f"The capital of {country} is {capital}."
    return "I do not know."


question = json.load(sys.stdin)
json.dump({"output": answer(question["prompt"]["text"])}, sys.stdout)

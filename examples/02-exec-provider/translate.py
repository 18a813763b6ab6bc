"""A program under test: reads a question from stdin, writes an answer to stdout, logs to stderr, exits with 0."""

import json
import os
import sys

WORDS = {"french": {"cat": "le chat", "dog": "le chien"}}

question = json.load(sys.stdin)
word = question["prompt"]["text"]
print(f"asked for {word!r} by case {question['test']['id']}", file=sys.stderr)

language = sys.argv[sys.argv.index("--to") + 1]
translation = WORDS[language].get(word)
if translation is None:
    output = f"There is no translation of {word!r}."
elif os.environ.get("TRANSLATOR_POLITE") == "1":
    output = f"{translation}, s'il vous plaît"
else:
    output = translation

answer = {
    "output": output,
    "usage": {"input_tokens": 1, "output_tokens": len(output.split())},
    "cost_usd": 0.00001,
    "model": "dictionary-1",
}
json.dump(answer, sys.stdout)

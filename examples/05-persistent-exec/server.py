"""A program that stays warm: loads its model once, then answers line by line until its input ends."""

import json
import sys

SIGNS = {"+": lambda a, b: a + b, "*": lambda a, b: a * b}  # the model, dear to load


def answer(question):
    a, sign, b = question["prompt"]["text"].split()
    if sign not in SIGNS:
        return f"unknown sign {sign!r}"
    return SIGNS[sign](int(a), int(b))


for line in sys.stdin:
    question = json.loads(line)
    # Repeating the question's number rules out that an answer is taken for another question's.
    reply = {"id": question["domarinn"]["id"], "output": answer(question)}
    print(json.dumps(reply), flush=True)

"""The system under test. Put a call of your own application in place of the table."""

from evenhand import Request

CAPITALS = {"France": "Paris", "Spain": "Madrid", "Japan": "Tokyo"}


def answer(request: Request) -> str:
    """Answer one question: `request.prompt` is the text, `request.vars` holds the case's values."""
    for country, capital in CAPITALS.items():
        if country in request.prompt:
            return f"The capital of {country} is {capital}."
    return "I do not know."

"""A system under test that answers from files beside it."""

from pathlib import Path


def answer(request):
    return (Path(__file__).parent / "knowledge" / "hours.md").read_text(encoding="utf-8")

"""The system under test, called in process; it may be plain or async."""

from evenhand import Response, Usage


def sentences(text):
    return [f"{part.strip()}." for part in text.split(".") if part.strip()]


def summarize(request):
    """What a function returns is the output."""
    return sentences(request.messages[-1].content)[0]


async def summarize_in_detail(request):
    """A Response carries more; an output may be any JSON value."""
    text = request.messages[-1].content
    first, *others = sentences(text)
    output = {"summary": first, "left_out": len(others)} if request.vars.get("as_json") else first
    usage = Usage(input_tokens=len(text.split()), output_tokens=len(first.split()))
    return Response(output=output, usage=usage, stop_reason="end_turn")

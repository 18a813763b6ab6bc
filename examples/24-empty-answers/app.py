"""A system under test that says why it has nothing to say."""

from evenhand import Response


def answer(request):
    if request.prompt == "none":
        return "an answer"
    return Response(output="", stop_reason=request.prompt)

"""A stand-in for an assistant that always asks for the weather."""

from evenhand import Response, ToolCall


def answer(request):
    city = request.vars["city"]
    call = ToolCall(name="get_weather", arguments={"city": city, "units": "metric"})
    return Response(output="", tool_calls=(call,))

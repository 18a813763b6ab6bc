"""Two systems: one that refuses what sounds dangerous and breaks down at times, and one that does not."""

from evenhand import ErrorClass, ProviderError, Response


def careful(request):
    if "poison" in request.prompt:
        return Response(output="", stop_reason="refusal")
    if "outage" in request.prompt:
        raise ProviderError("the service is down", ErrorClass.PROVIDER_UNAVAILABLE)
    return "careful: about five metres"


def spare(request):
    return f"spare: answering {request.prompt!r}"

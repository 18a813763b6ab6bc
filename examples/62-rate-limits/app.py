"""A system that takes any number of calls, and one that turns away all but two at once."""

import asyncio

from evenhand import ErrorClass, ProviderError

in_flight = 0


async def steady(request):
    return request.prompt


async def crowded(request):
    global in_flight
    if in_flight >= 2:
        raise ProviderError("only two at once", ErrorClass.PROVIDER_RATE_LIMIT, retriable=True)
    in_flight += 1
    await asyncio.sleep(0.02)
    in_flight -= 1
    return request.prompt

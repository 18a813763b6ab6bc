"""A system under test that reports what it used."""

from evenhand import Response, Usage


def answer(request):
    usage = Usage(input_tokens=100, output_tokens=50, cache_read_tokens=30, cache_write_tokens=20)
    return Response(output="hello", usage=usage, cost_usd=0.0004)

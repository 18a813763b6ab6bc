"""A system that says what each of its answers cost: three cents."""

from evenhand import Response


def answer(request):
    return Response(output=f"An answer to: {request.prompt}", cost_usd=0.03)

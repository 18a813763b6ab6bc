"""A system under test that is wrong in every second answer to one question."""


def answer(request):
    return "no" if request.test.id == "flaky" and request.repeat % 2 else "yes"

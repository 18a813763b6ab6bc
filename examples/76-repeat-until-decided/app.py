"""A system under test that is wrong in the first of its answers to one question."""


def answer(request):
    return "no" if request.test.id == "mostly" and request.repeat == 0 else "yes"

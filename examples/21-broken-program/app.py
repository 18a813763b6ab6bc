"""A system under test that breaks on one question."""


def answer(request):
    if request.prompt == "crash":
        raise RuntimeError("the model server is gone")
    return request.prompt

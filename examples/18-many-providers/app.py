"""A system under test that shouts."""


def shout(request):
    return request.prompt.upper()

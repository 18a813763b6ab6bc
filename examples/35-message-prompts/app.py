"""A system under test that looks at the turns."""


def answer(request):
    roles = "+".join(message.role for message in request.messages)
    return f"{roles}: {request.messages[0].content}"

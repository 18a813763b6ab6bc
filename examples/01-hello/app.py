"""The system under test: a stand-in for an application that would call a model here."""

GREETINGS = {"English": "Hello", "French": "Bonjour", "German": "Guten Tag"}


def answer(request):
    greeting = GREETINGS.get(request.vars["language"])
    if greeting is None:
        return f"I do not speak {request.vars['language']}."
    return f"{greeting}, {request.vars['name']}!"

"""A system under test whose answers differ."""

import random


def throw(request):
    return str(random.randint(1, 6))

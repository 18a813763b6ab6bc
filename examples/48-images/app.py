"""A system under test that looks at a picture: it reads the size from the head of a PNG file."""

import base64


def answer(request):
    question, image = request.messages[0].content
    data = base64.b64decode(image["data"])
    width, height = (int.from_bytes(data[start : start + 4], "big") for start in (16, 20))
    return f"{question['text']} It is {width} by {height} ({image['media_type']})."

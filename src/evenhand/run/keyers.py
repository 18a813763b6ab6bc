"""What makes the questions under which a provider's answers are kept, beside the other providers of its suite."""

from __future__ import annotations

from collections.abc import Iterable

from evenhand.model.exchange import Json, Request, TestInfo
from evenhand.model.provider import Keyer, Provider, ProviderContext
from evenhand.text.canonical import canonical

_SAMPLE = Request(text="", test=TestInfo(id=""))


def keyer_of(provider: Provider, others: Iterable[Provider], context: ProviderContext) -> Keyer | None:
    """The provider's own keyer; with its address where another provider differs in that alone.

    Kept answers do not depend on an address, so that gateways and machines share them. Two servers that a suite
    compares must not share them with each other.
    """
    own = provider.keyer(context)
    if own is None or provider.address is None:
        return own
    if not any(_is_twin(other, provider, own, context) for other in others):
        return own
    address = provider.address

    def asked(request: Request) -> Json:
        return {"address": address, "question": own(request)}

    return asked


def _is_twin(other: Provider, provider: Provider, own: Keyer, context: ProviderContext) -> bool:
    """Whether two providers send the same to different addresses."""
    if type(other) is not type(provider) or other.address == provider.address:
        return False
    if other.cache_salt != provider.cache_salt:
        return False
    keyer = other.keyer(context)
    return keyer is not None and canonical(keyer(_SAMPLE)) == canonical(own(_SAMPLE))

"""What a suite says about the answers that are kept: whether, which, and where they are shared."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

StoreEmptyOutputs = Literal["never", "reproducible", "always"]

REPRODUCIBLE = frozenset({"truncated", "tool_use_only", "output_expr_empty"})
"""Reasons for an empty output that the same question would bring about again."""


class S3Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A bucket of S3, or of a storage that is compatible with it. Credentials come from the environment."""

    bucket: Annotated[str, Meta(min_length=1, description="Name of the bucket.")]
    endpoint: Annotated[
        str | None, Meta(description="Address of the storage, for one that is not Amazon's.")
    ] = None
    region: Annotated[str | None, Meta(description="Region of the bucket.")] = None
    prefix: Annotated[str, Meta(description="Beginning of the names of all objects.")] = "evenhand"
    force_path_style: Annotated[
        bool, Meta(description="Name the bucket in the path of addresses instead of the host.")
    ] = False


class HttpSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A server that keeps what is PUT at an address and gives it back by GET."""

    url: Annotated[
        str, Meta(pattern=r"^https?://", description="Address; the name of an answer is appended to it.")
    ]
    token_env: Annotated[
        str | None, Meta(description="Environment variable with a token, sent as `Authorization: Bearer`.")
    ] = None


class CacheSettings(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """How answers are kept and used again."""

    grader: Annotated[bool, Meta(description="Whether verdicts of graders are kept and used again too.")] = (
        True
    )
    store_empty_outputs: Annotated[
        StoreEmptyOutputs,
        Meta(
            description="Which empty answers are kept: none, those that the same question brings about again "
            "(truncated, tool calls alone, an empty `output_expr`), or all but filtered ones."
        ),
    ] = "reproducible"
    backend: Annotated[
        Literal["disk", "layered"],
        Meta(description="`disk`: on this machine; `layered`: there, and in the shared storage behind it."),
    ] = "disk"
    s3: Annotated[S3Settings | None, Meta(description="The shared storage: a bucket.")] = None
    http: Annotated[HttpSettings | None, Meta(description="The shared storage: a server over HTTP.")] = None

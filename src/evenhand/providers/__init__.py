"""The systems under test that a suite can name: one module per type, registered on import."""

import evenhand.providers.anthropic
import evenhand.providers.echo
import evenhand.providers.embeddings
import evenhand.providers.exec
import evenhand.providers.http
import evenhand.providers.litellm
import evenhand.providers.openai
import evenhand.providers.python  # noqa: F401

"""evenhand tests systems built on language models."""

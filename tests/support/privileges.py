"""Who the tests run as."""

from __future__ import annotations

NOBODY = 65_534
"""The user without any privileges."""

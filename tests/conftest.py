"""Settings that every test shares."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from support.privileges import NOBODY

# How long an example takes says more about the machine than about the code.
# In CI the examples are the same every time: what is not the change's fault must not stop it.
settings.register_profile(
    "evenhand",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=bool(os.environ.get("CI")),
)
settings.load_profile("evenhand")

# Tests say themselves where state is kept; that of whoever runs them is neither read nor written.
os.environ.pop("EVENHAND_HOME", None)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may enter, unlike those that pytest makes."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


@pytest.fixture
def without_privileges() -> Iterator[None]:
    """Permissions apply, also where the tests run as root."""
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(NOBODY)
    yield
    if is_root:
        os.seteuid(0)

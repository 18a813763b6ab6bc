"""Settings that every test shares."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

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

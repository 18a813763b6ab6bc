"""Settings that every test shares."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# How long an example takes says more about the machine than about the code.
settings.register_profile("evenhand", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("evenhand")

# Tests say themselves where state is kept; that of whoever runs them is neither read nor written.
os.environ.pop("EVENHAND_HOME", None)

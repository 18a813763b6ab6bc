"""One run from request to record: what to ask, asking it, keeping what comes back."""

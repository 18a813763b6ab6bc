"""Runs side by side: which runs are meant, which cells belong together, what changed."""

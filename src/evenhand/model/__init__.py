"""The values that the steps of a run exchange, and the base classes of what a suite can name."""

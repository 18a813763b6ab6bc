"""The run store: every run of a project with its results in one SQLite file, and no secret in it."""

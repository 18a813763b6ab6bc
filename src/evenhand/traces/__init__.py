"""Traces of the systems under test: a receiver for OTLP over HTTP, and what collects spans by call."""

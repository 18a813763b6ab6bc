"""Answers that were paid for, by the question they answer."""

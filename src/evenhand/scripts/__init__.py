"""Code that suites bring along, run in worker processes that can be ended: what is asked, how, and what it means."""

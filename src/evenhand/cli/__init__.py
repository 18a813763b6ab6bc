"""The command line: the only place that prints and exits. Commands load what they need when they are called."""

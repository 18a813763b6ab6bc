"""Pure functions over results: the summary as a fold, statistics, exit codes."""

"""Pure functions over verdicts and results: scores, the summary as a fold, statistics, exit codes."""

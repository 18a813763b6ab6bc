"""Pure functions over text and JSON: reading, comparing, matching, quoting."""

"""The engine: from a finished suite to one result per cell. It knows no dialect, no concrete kind and no screen."""

"""The one door: from what people write, in all its files, to a finished suite or to every problem in it."""

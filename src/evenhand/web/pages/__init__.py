"""One module a page: what it shows, as data. The same data is the page's `.json` twin."""

"""A judge compared with people: their labels, a run that asks the judge, the figures."""

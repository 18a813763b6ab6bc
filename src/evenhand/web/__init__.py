"""The viewer: pages over stored runs, for one person on one machine."""

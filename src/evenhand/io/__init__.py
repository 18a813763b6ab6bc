"""The outside world behind small seams: child processes, the exec protocol, threads, the clock, and fakes of them."""

"""Errors, digests, files, locks, processes, time: what every layer stands on. Knows no word of the domain."""

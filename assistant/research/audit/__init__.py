"""The audit of a draft: its claims and citations against the library."""

"""Whether a claim is supported by what it cites."""

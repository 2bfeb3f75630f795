"""Whether what a claim cites supports it."""

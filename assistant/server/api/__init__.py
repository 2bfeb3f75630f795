"""The HTTP API: typed routes beside the page."""

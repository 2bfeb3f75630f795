"""The HTTP API: typed routes beside the page."""

from assistant.api.routes import add_api

__all__ = ["add_api"]

"""The HTTP API: typed routes beside the page."""

from assistant.api.counting import Counted
from assistant.api.routes import add_api

__all__ = ["Counted", "add_api"]

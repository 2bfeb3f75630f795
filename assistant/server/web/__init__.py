"""The browser app: a Gradio page, a tab a module."""

from assistant.server.web.page import mount_page

__all__ = ["mount_page"]

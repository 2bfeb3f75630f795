"""The browser app: a Gradio page, a tab a module."""

from assistant.browser.page import mount_page

__all__ = ["mount_page"]

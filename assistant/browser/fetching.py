"""The page's framework fetches nothing from elsewhere.

Gradio downloads a file that a request names by an address, whatever component it is meant for.
"""

import gradio as gr
from gradio import processing_utils


async def _refuse(url: str, cache_dir: str) -> str:  # noqa: ARG001 - Gradio's signature
    raise gr.Error("Files are not fetched from addresses; upload the file itself.")


def fetch_nothing() -> None:
    """Have every such download refused, in this process."""
    processing_utils.async_ssrf_protected_download = _refuse

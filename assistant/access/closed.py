"""Routes of the page's framework that are shut: they reach other machines, or nobody needs them."""

from starlette.types import ASGIApp, Receive, Scope, Send

from assistant.access.replies import refusal

_CLOSED = (
    *("/gradio_api/proxy=", "/gradio_api/file=http:", "/gradio_api/file=https:"),
    *("/gradio_api/vibe-", "/gradio_api/undo-vibe-", "/gradio_api/run-history", "/gradio_api/runs"),
    *("/gradio_api/deep_link", "/gradio_api/process_recording", "/gradio_api/profiling"),
    *("/gradio_api/dev/", "/monitoring", "/custom_component", "/pwa_icon", "/manifest.json"),
    *("/login/", "/logout/"),
)
"""How their paths begin: a proxy, fetched addresses, recorded runs, code written by a service,
and the framework's own signing in."""


class ClosedRoutes:
    """ASGI middleware that finds nothing behind these paths."""

    def __init__(self, app: ASGIApp) -> None:
        """Stand before `app`."""
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what leads elsewhere."""
        if scope["type"] == "http" and scope["path"].lower().startswith(_CLOSED):
            message = "There is nothing under this address."
            await refusal(404, "not_found", message)(scope, receive, send)
        else:
            await self.app(scope, receive, send)

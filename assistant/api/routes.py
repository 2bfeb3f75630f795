"""The routes of the HTTP API."""

from fastapi import FastAPI, Response

from assistant.service import Service


def add_api(app: FastAPI, service: Service) -> None:
    """Add the routes to `app`."""

    @app.get("/healthz")
    def healthz() -> dict[str, str]:
        """Whether questions can be asked."""
        state = service.setup.state
        return {"status": "failed" if state.error else "ready" if state.assistant else "setting up"}

    @app.get("/metrics")
    def metrics() -> Response:
        """Figures for Prometheus."""
        return Response(service.metrics.text(), media_type="text/plain; version=0.0.4")

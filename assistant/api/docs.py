"""The OpenAPI document, and a page that shows it with files from this machine alone."""

from importlib.resources import files
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.responses import FileResponse, Response

_STATIC = Path(__file__).with_name("static")
_KINDS = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}

DESCRIPTION = """
Ask a library of paper abstracts, search it, look papers up.

`POST /v1/chat/completions` speaks OpenAI's protocol, so that its clients work unchanged; citations,
quotes and outcome come in the field `assistant`. Errors have OpenAI's shape everywhere. A key is
needed only where the assistant was started with `--auth-file`.
"""


def add_docs(app: FastAPI) -> None:
    """Add `/docs` to `app`, and mend its OpenAPI document."""
    bundle = files("fastapi_offline") / "static"
    shown = {
        "": _STATIC / "docs.html",
        "/start.js": _STATIC / "docs.js",
        "/swagger-ui.js": Path(str(bundle / "swagger-ui-bundle.js")),
        "/swagger-ui.css": Path(str(bundle / "swagger-ui.css")),
    }
    for path, file in shown.items():
        app.get(f"/docs{path}", include_in_schema=False)(_file(file))
    described = app.openapi

    def openapi() -> dict[str, Any]:
        return _mended(described())

    app.openapi = openapi  # type: ignore[method-assign]


def _file(path: Path) -> Any:
    async def file() -> Response:
        return FileResponse(path, media_type=_KINDS[path.suffix])

    return file


def _mended(document: dict[str, Any]) -> dict[str, Any]:
    """As the app behaves: what does not fit is 400, not FastAPI's 422; a key may be needed."""
    schemas = document["components"]["schemas"]
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    for operations in document["paths"].values():
        for operation in operations.values():
            operation["responses"].pop("422", None)
    document["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    document["security"] = [{}, {"key": []}]
    return document

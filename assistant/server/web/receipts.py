"""The download of an answer's receipt."""

from fastapi import FastAPI, HTTPException, Request, Response

from assistant.research.receipt import receipt_of, receipt_text
from assistant.server.auth import owner_of
from assistant.server.service import Service
from assistant.types import Turn
from retrieval.types import UserError


def add_receipts(app: FastAPI, service: Service) -> None:
    """Add the download that the menu of an answer links to."""

    @app.get("/conversations/{id_}/receipts/{exchange}.json", include_in_schema=False)
    def receipt(id_: str, exchange: str, request: Request) -> Response:
        """The receipt, from what was kept when the answer was made."""
        try:
            conversation = service.conversations.read(owner_of(request.scope), id_)
            history: list[Turn] = []
            for each in conversation.exchanges if conversation else ():
                if each.id == exchange and each.answer and each.made_with:
                    text = receipt_text(receipt_of(each.answer, history, each.made_with))
                    headers = {"Content-Disposition": 'attachment; filename="receipt.json"'}
                    return Response(text, media_type="application/json", headers=headers)
                if each.answer:
                    history.append(Turn(each.question, each.answer))
        except UserError as error:
            raise HTTPException(409, str(error)) from error
        raise HTTPException(404, "There is no receipt of this answer; ask again for one.")

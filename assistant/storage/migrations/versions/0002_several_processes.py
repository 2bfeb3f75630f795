"""What several app processes share: sessions, failed sign-ins, recent answers, library jobs.

An answer's text gets a column of its own, so that any database can search it.
"""

import json

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the column and the tables."""
    op.add_column(
        "exchanges", sa.Column("answer", sa.Text, nullable=False, server_default=sa.text("''"))
    )
    _fill_answers()
    op.create_table(
        "sessions",
        sa.Column("token", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("password", sa.Text, nullable=False),
        sa.Column("until", sa.Double, nullable=False, index=True),
    )
    op.create_table(
        "failures",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("of", sa.Text, nullable=False, index=True),
        sa.Column("at", sa.Double, nullable=False),
    )
    op.create_table(
        "recent_answers",
        sa.Column("said", sa.Text, primary_key=True),
        sa.Column("at", sa.Double, nullable=False, index=True),
        sa.Column("record", sa.Text, nullable=False),
    )
    op.create_table(
        "library_jobs",
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("running", sa.Integer, unique=True),
        sa.Column("stop", sa.Boolean, nullable=False),
        sa.Column("beat", sa.Double, nullable=False),
        sa.Column("record", sa.Text, nullable=False),
    )


def _fill_answers() -> None:
    exchanges = sa.table("exchanges", sa.column("id"), sa.column("record"), sa.column("answer"))
    connection = op.get_bind()
    for id_, record in connection.execute(sa.select(exchanges.c.id, exchanges.c.record)).all():
        text = _text(record)
        if text:
            filled = sa.update(exchanges).where(exchanges.c.id == id_).values(answer=text)
            connection.execute(filled)


def _text(record: str) -> str:
    """The text of the recorded answer; empty if there is none, or none that can be read."""
    try:
        return str(json.loads(record)["answer"]["text"])
    except (ValueError, KeyError, TypeError):
        return ""

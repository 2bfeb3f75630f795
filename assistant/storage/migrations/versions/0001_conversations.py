"""Conversations and cases: the tables that every version so far has made in its SQLite file."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables that are not there."""
    op.create_table(
        "conversations",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("changed", sa.Double, nullable=False),
        if_not_exists=True,
    )
    op.create_index("conversations_of", "conversations", ["owner", "changed"], if_not_exists=True)
    op.create_table(
        "exchanges",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column(
            "conversation",
            sa.Text,
            sa.ForeignKey("conversations.id", ondelete="CASCADE"),
            nullable=False,
        ),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("question", sa.Text, nullable=False),
        sa.Column("record", sa.Text, nullable=False),
        if_not_exists=True,
    )
    op.create_index("exchanges_of", "exchanges", ["conversation", "position"], if_not_exists=True)
    op.create_table(
        "cases",
        sa.Column("exchange", sa.Text, primary_key=True),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("rated", sa.Double, nullable=False),
        sa.Column("record", sa.Text, nullable=False),
        if_not_exists=True,
    )

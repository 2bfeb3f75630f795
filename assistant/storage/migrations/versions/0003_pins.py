"""Pinned questions."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "pins",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("question", sa.Text, nullable=False),
        sa.Column("made", sa.Double, nullable=False),
        sa.Column("revision", sa.Text, nullable=False),
        sa.Column("seen", sa.Text, nullable=False),
        sa.Column("latest", sa.Text, nullable=False),
        sa.UniqueConstraint("owner", "question"),
    )

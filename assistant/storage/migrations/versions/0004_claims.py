"""Which process asks a pinned question again."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the column."""
    claimed = sa.Column("claimed", sa.Double, nullable=False, server_default=sa.text("0"))
    op.add_column("pins", claimed)

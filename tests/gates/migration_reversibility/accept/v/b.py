revision = "b"
down_revision = "a"


def upgrade() -> None:
    op.drop_table("t")


def downgrade() -> None:
    op.create_table("t")

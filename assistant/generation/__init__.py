"""Writing answers from evidence and checking them."""

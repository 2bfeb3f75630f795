"""What a query says about the records of papers, by the library's own values; and lookup."""

"""Text: sentences, names, titles, markup."""

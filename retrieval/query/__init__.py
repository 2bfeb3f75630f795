"""Parses what queries say about the records of papers, and looks papers up."""

"""What a researcher asks of a library beyond single answers: drafts, tables, pins and receipts."""

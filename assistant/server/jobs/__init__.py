"""Long work on the library: first start, ingest, repair."""

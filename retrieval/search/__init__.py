"""Search: first stage, reading, reranking."""

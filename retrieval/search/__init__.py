"""Search: first stage, reader, reranking, measures."""

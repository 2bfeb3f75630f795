"""Chat models in llama.cpp: templates, tokens, decoding."""

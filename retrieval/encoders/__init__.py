"""Encoders in llama.cpp."""

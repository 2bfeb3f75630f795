"""GGUF files: headers, encoders, adapters."""

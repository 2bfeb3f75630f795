"""Retrieval of papers: file formats, chunks, the library on disk, and search over it."""

import os

# Read when llama.cpp is loaded: its threads then sleep while they wait for each other. Spinning
# threads are ten times slower as soon as anything else uses the processor.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

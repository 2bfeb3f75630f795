"""Papers in, ranked passages out: readers, chunks, the library on disk, and search over it."""

import os

# Read when llama.cpp is loaded: its threads then sleep while they wait for one another. Spinning
# threads are slowed down tenfold as soon as anything else uses the processor.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

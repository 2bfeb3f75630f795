"""Papers in, ranked passages out: readers, chunks, the library on disk, and search over it."""

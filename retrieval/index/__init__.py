"""The library's files on disk: vectors and records, lexical index, manifest."""

"""Tests of the pipeline, a package: another folder has a `test_metadata.py`, too."""

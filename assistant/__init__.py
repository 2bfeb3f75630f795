"""A local research assistant over paper abstracts: models, cited answers, command line, browser."""

__version__ = "0.1.0"

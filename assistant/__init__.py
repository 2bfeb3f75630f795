"""A local research assistant over paper abstracts: models, cited answers, command line, browser."""

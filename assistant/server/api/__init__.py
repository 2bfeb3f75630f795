"""The HTTP API: typed routes beside the page.

Nothing is imported here: the service counts with `metrics`, and the routes need the service.
"""

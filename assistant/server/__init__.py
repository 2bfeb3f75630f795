"""The server: service, request queue, library jobs, conversations, HTTP API, pages, access."""

"""The browser app: Gradio page, its HTML, and the server that shows it."""

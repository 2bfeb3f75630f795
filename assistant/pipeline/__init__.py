"""From a question to a checked, cited answer; `assistant` is the page to read first."""

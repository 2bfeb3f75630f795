"""Readers of pages laid out like those in seeds/."""

"""Fetches models and checks them."""

"""The whole story."""
WORLD = None

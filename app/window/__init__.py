"""The window: a folder a topic, each with its model (what is shown) and its views (how it is drawn)."""

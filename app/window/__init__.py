"""The window: a folder per topic, with its models (what is shown) and its views (how it is drawn)."""

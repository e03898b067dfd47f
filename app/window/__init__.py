"""The window. Each topic has a folder with its models, which hold what is shown, and its views, which draw it."""

"""The page of a chat, with a box for its messages and a box for the template."""

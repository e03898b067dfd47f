"""The page of a token: its origin, and how its use changes over the steps."""

"""The selection in the window: the card, and what lights up in all views."""

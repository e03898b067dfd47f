"""The selection in the window: a card about the selected token, and the highlights in all views."""

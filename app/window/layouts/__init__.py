"""The layouts of the window: three built-in layouts, and one that the user has saved."""

"""The layouts of the window: three that are ready, and the person's own."""

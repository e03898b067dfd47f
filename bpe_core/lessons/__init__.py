"""Lessons as data, and the engine's answers to what they ask; the window and shared pages show them."""

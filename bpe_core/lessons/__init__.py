"""The lessons as data, and the engine's answers to their questions; the window and shared pages show them."""

"""The lessons as data, and the engine's answers to their questions. The window and shared pages show the lessons."""

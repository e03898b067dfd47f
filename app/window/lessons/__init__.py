"""Lessons: the list of them, one step at a time, and the words of the corpus as they are now."""

"""The lessons in the window: their list, the page of a step, and the words of the corpus at the step shown."""

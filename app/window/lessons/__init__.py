"""The lessons: their list, one step at a time, and the words of the corpus at the moment shown."""

"""The start page: type a word, see how it is cut, and why."""

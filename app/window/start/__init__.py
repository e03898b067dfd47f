"""The first thing to do: type a word, see how it is cut, and why."""

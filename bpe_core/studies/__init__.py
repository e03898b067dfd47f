"""A study is what one can ask: a history with its file's numbers, and the texts it is asked about."""

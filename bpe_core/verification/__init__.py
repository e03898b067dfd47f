"""The check of a written file: the file and the history must split thousands of words into the same tokens."""

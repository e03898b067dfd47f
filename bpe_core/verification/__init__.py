"""The check of a written file: both it and the history must split thousands of words alike."""

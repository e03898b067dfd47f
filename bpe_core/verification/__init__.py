"""Read a written file back: both it and the history must cut thousands of words alike."""

"""Where the training stands, and how fast it goes."""

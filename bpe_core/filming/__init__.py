"""A run as a film: drawn pixel by pixel with letters of our own, so that its frames are equal on every machine."""

"""A run as a film, drawn pixel by pixel by our own code, so that its frames are equal on every machine."""

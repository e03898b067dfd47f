"""The film of a run. Our own code draws its pixels, so its frames are equal on every machine."""

"""The reading of texts: paths become sources, sources become streams of bytes, and streams become chunks."""

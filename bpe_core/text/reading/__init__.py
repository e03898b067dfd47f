"""The package that reads texts. Paths become sources, sources become streams of bytes, and streams become chunks."""

"""How texts come in: paths become sources, these streams of bytes, and these the chunks of a `Corpus`."""

"""Best: prices on the pieces of words give a floor under all vocabularies, and one that nearly reaches it."""

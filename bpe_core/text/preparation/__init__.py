"""The small steps by which a file turns text into words, for whatever other choices of a recipe cannot say."""

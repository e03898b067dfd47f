"""The small steps by which a file turns text into words, used for what other choices of a recipe cannot say."""

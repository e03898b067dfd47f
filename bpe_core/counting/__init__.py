"""From words to counts: the distinct words of a corpus, with how often each occurs."""

"""WordPiece: pairs are joined inside words, by their count or their score, and words are cut by the longest match."""

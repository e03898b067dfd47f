"""Byte-pair encoding: join the most frequent pair of neighbours, again and again."""

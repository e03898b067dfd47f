"""What a merge table becomes when tokens are taken out of it, or another table is put behind it.

Each is a function from a history, and the numbers its file gave its tokens, to another such pair.
"""

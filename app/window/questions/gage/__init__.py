"""Gage's compressor at work: the blocks, the table of the one at the cursor, and what the bytes shrink to."""

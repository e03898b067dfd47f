"""How texts come in: one file for each kind of source and each step on the way. `bpe_core.text.corpus` is the face.

files.py  folders.py     paths and folders become sources
opening.py  remote.py    a path or an address becomes a stream of bytes, decompressed, its encoding known
plain_text.py  utf8.py   a stream becomes blocks of valid UTF-8, and these become documents
json_lines.py  csv_tables.py  arrow_tables.py  archives.py    other kinds of files become documents
rows.py  counts_head.py  source.py    what these share
"""

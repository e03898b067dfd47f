"""How texts come in: one small file for each kind of source and each step on the way.

    opening.py     a path becomes a stream of bytes, decompressed
    beginning.py   what the first bytes tell: encoding, a forgotten compression, a picture
    blocks.py      a stream becomes blocks of valid UTF-8, whatever its encoding
    plain_text.py  json_lines.py  tables.py  texts.py     blocks become documents
    folders.py     a folder becomes a list of files

`bpe_core.text.corpus` is the face of all this.
"""

"""How texts come in: one small file for each kind of source and each step on the way.

    opening.py     a path becomes a stream of bytes, decompressed
    beginning.py   what the first bytes tell: encoding, a forgotten compression, a picture
    blocks.py      a stream becomes blocks of valid UTF-8, whatever its encoding
    plain_text.py  json_lines.py  tables.py  texts.py     blocks become documents
    arrow_tables.py  arrow_array.py                       columns become documents, many at once
    fields.py      which field of a row holds its text
    archives.py    the members of an archive are read as files are
    folders.py     a folder becomes a list of files
    remote.py      an address becomes a stream of bytes, by packages that a person has

`bpe_core.text.corpus` is the face of all this.
"""

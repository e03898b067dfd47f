"""Files compressed as Gage's program of 1994 did it, and back.

    >>> expand(compress(b"aaabdaaabac" * 30).data) == b"aaabdaaabac" * 30
    True

A `.gage` file is

| bytes | what |
|---|---|
| 8 | `BPEGAGE` and the version, which is 1 |
| 8 | the length of the original in bytes, the highest byte first |
| ... | the blocks as the program of 1994 writes them (`learning/gage/block_form.py`), which can expand them |
| 4 | the CRC-32 of the original, the highest byte first |
"""

from __future__ import annotations

from bpe_core.gage_file.compressing import Compressed as Compressed
from bpe_core.gage_file.compressing import Report as Report
from bpe_core.gage_file.compressing import compress as compress
from bpe_core.gage_file.compressing import compress_file as compress_file
from bpe_core.gage_file.expanding import expand as expand
from bpe_core.gage_file.expanding import expand_file as expand_file

ENDING = ".gage"

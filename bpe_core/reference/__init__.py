"""Each method as the articles tell it: short, plain and slow. The specification that everything fast is held equal to.

Byte-pair encoding, in `bpe.py`, comes first; what it is made of is found here by its name alone.
"""

from __future__ import annotations

from bpe_core.reference.bpe import TokenBook as TokenBook
from bpe_core.reference.bpe import allowed as allowed
from bpe_core.reference.bpe import as_history as as_history
from bpe_core.reference.bpe import boundary_ranks as boundary_ranks
from bpe_core.reference.bpe import count_pairs as count_pairs
from bpe_core.reference.bpe import count_tokens as count_tokens
from bpe_core.reference.bpe import encode as encode
from bpe_core.reference.bpe import encode_word as encode_word
from bpe_core.reference.bpe import encode_word_greedily as encode_word_greedily
from bpe_core.reference.bpe import join as join
from bpe_core.reference.bpe import ranked as ranked
from bpe_core.reference.bpe import train as train

"""The measurement of the time that encoding takes with tables that contain superwords.

If the tokenizers library can read a table, its time is measured, too.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from tests.benchmarks.peers import BpeExplorer, Encoder, Peer, Tokenizers

TABLES: dict[str, tuple[str, dict[str, Any]]] = {
    "superbpe": ("superbpe", dict(transition=20_000)),
    "boundless": ("boundless", {}),
    "tau 0.9": ("boundless", dict(tau=0.9)),
}
ENCODING = {"bpe-explorer": tuple(TABLES), "tokenizers": ("superbpe",)}
SIZE = 32_000


def encoder(peer: Peer, table: str, source: Path) -> Encoder:
    """Train a tokenizer on a file, and return a function that encodes a text on one thread.

    The library `peer` encodes the text.
    """
    from bpe_core.formats import write_history
    from bpe_core.methods.kit.tokenizer import Tokenizer

    ours = BpeExplorer()
    ours.warm_up()
    preset, choices = TABLES[table]
    recipe = ours.bpe.Recipe.preset(preset, vocab_size=SIZE, **choices)
    history = ours.bpe.train(ours.bpe.Corpus.from_files([source]), recipe).history
    if not isinstance(peer, Tokenizers):
        tokenizer = Tokenizer(history)
        tokenizer.expect(10_000_000)
        return lambda text: tokenizer.encode_batch([text], threads=1).ids
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tokenizer.json"
        write_history(history, path)
        theirs = peer.library.Tokenizer.from_file(str(path))
    return lambda text: theirs.encode(text).ids

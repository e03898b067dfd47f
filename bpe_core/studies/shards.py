"""The function of the Python interface that encodes documents into shards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bpe_core.history.ids_in_use import warn_about_large_ids
from bpe_core.methods.kit.encode_documents import SHARD_SIZE, EncodedDocuments, ShardKind
from bpe_core.methods.kit.encode_documents import encode_documents as encode_to_shards
from bpe_core.segmenting.cutting import Allowed
from bpe_core.segmenting.segmentation import Width
from bpe_core.studies.study import Study
from bpe_core.studies.texts import texts_of
from bpe_core.support.atomic import reserve
from bpe_core.support.progress import ALONE, Work


def encode_documents(
    given: Any,
    texts: Any,
    folder: Path | str,
    *,
    eos: int | None = None,
    kind: ShardKind = "npy",
    shard_size: int = SHARD_SIZE,
    at: int | None = None,
    width: Width | None = None,
    allowed_special: Allowed = None,
    work: Work = ALONE,
) -> EncodedDocuments:
    """Encode documents into numbered shards of ids, with an index that says where each document ends.

    If the program was killed, the same call continues after the last whole shard. Until all shards are whole, they are
    kept beside `folder`.

    Parameters
    ----------
    given
        A study, or an object that `Study.of` accepts.
    texts
        The documents: a `Path`, a list of paths or of texts, rows with a `text`, or a `Corpus`.
    folder
        The new folder, or a folder of shards, which is replaced.
    eos
        The id after each document. Without it, no id is added.
    kind
        "npy", or "bin" with the index that Megatron reads.
    shard_size
        The intended number of ids in a shard. A shard ends after the document that reaches this number.
    at
        The number of steps to encode with. Without it, all steps are used.
    width
        The type of an id. Without it, the smallest type that fits is used.
    allowed_special
        The special tokens that are matched in a text, as for `encode`.
    work
        The callbacks that receive the progress and may cancel the work.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import bpe_core as bpe
    >>> study = bpe.train("low low lower", "gpt2", vocab_size=258)
    >>> with TemporaryDirectory() as folder:
    ...     written = encode_documents(study, ["low", "lower low"], Path(folder, "shards"))
    >>> written.documents, written.ids
    (2, 6)
    """
    study = Study.of(given)
    warn_about_large_ids(study.history)
    with reserve(folder), texts_of(texts).reading() as corpus:
        return encode_to_shards(
            corpus,
            study.inside.by_index.tokenizer,
            folder,
            eos=eos,
            kind=kind,
            shard_size=shard_size,
            at=study.inside.checked_step_count(at),
            width=width,
            allowed_special=allowed_special,
            work=work,
        )

"""Whether `transformers.AutoTokenizer` makes of a folder what its tokenizer.json says; without asking any network.

The file itself is verified before. So only what the configuration adds is compared: ids, roles, and a padded batch.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from bpe_core.delivery.roles import Roles
from bpe_core.errors import LONGEST_SENTENCE, plain
from bpe_core.history.history import History
from bpe_core.history.token_texts import quoted
from bpe_core.verification import Verification
from bpe_core.verification.hard_cases import HARD_TEXTS, joined_tokens, special_texts

LIBRARY = "transformers"
MADE_TEXTS = 50
LONGEST_TEXT = 100_000  # characters of the person's text
BATCH = ("the lowest price is lower", "the", "")
# Variables of the library.
QUIET = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "TRANSFORMERS_NO_ADVISORY_WARNINGS": "1"}


def checked_by_loading(
    found: Verification, files: Mapping[str, bytes], history: History, roles: Roles, template: str, text: str
) -> Verification:
    """The verification of tokenizer.json, with what came of loading the folder."""
    with _quietly():
        try:
            import tokenizers
            from transformers import AutoTokenizer  # neither is needed to run: only asked whether it agrees
        except ImportError:
            note = f"{LIBRARY} is not installed here, so only tokenizer.json was checked, not the folder as a whole."
            return replace(found, cannot_hold=(*found.cannot_hold, note))
        import tempfile  # takes a while to load

        with tempfile.TemporaryDirectory() as folder:
            for name, content in files.items():
                Path(folder, name).write_bytes(content)
            try:
                loaded = AutoTokenizer.from_pretrained(folder, local_files_only=True)
                plainly = tokenizers.Tokenizer.from_file(str(Path(folder, "tokenizer.json")))
                wrong = [*_differing(loaded, plainly, history, roles, template, text)]
            except Exception as error:  # whatever another library throws
                wrong = [plain(f"{LIBRARY} does not load the folder: {error}", LONGEST_SENTENCE)]
    asked = " and ".join(one for one in (found.asked, LIBRARY) if one)
    return replace(found, differences=(*found.differences, *wrong), differing=found.differing + len(wrong), asked=asked)


@contextmanager
def _quietly() -> Iterator[None]:
    """No network is asked, and nothing is said of what the library could do beside."""
    before = {name: os.environ.get(name) for name in QUIET}
    os.environ.update(QUIET)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _differing(loaded: Any, plainly: Any, history: History, roles: Roles, template: str, text: str) -> Iterator[str]:
    for role, token in roles.given.items():
        same = loaded.convert_tokens_to_ids(token) == plainly.token_to_id(token)
        if getattr(loaded, f"{role}_token") != token or not same:
            yield f"{LIBRARY} takes another token than {quoted(token)} for {role}."
    samples = [*HARD_TEXTS, text[:LONGEST_TEXT], *special_texts(history.recipe)]
    samples += islice(joined_tokens(history, MADE_TEXTS), MADE_TEXTS)
    spelled = [token for token in roles.given.values() if token not in history.recipe.special_tokens]
    for sample in samples:
        if any(token in sample for token in spelled):
            continue  # by being given a role it becomes a token wherever it is spelled
        ids = plainly.encode(sample, add_special_tokens=False).ids
        if loaded(sample, add_special_tokens=False)["input_ids"] != ids:
            yield f"{LIBRARY} cuts {quoted(sample)} otherwise than tokenizer.json says."
        elif loaded.decode(ids) != plainly.decode(ids, skip_special_tokens=False):
            yield f"{LIBRARY} decodes {quoted(sample)} otherwise than tokenizer.json says."
    if roles.pad and not _pads(loaded, roles.pad):
        yield f"{LIBRARY} does not fill texts up with {quoted(roles.pad)}."
    if template and loaded.chat_template != template:
        yield f"{LIBRARY} does not find the chat template."


def _pads(loaded: Any, pad: str) -> bool:
    batch = loaded(list(BATCH), padding=True)
    rows, masks = batch["input_ids"], batch["attention_mask"]
    filled = {id for row, mask in zip(rows, masks, strict=True) for id, on in zip(row, mask, strict=True) if not on}
    return len({len(row) for row in rows}) == 1 and filled == {loaded.convert_tokens_to_ids(pad)}

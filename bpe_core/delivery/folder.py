"""Functions that build a folder which `transformers.AutoTokenizer` can load.

The files are created in memory and checked by loading them. Then the folder is put in place.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np

from bpe_core.editing.id_map import IdMap
from bpe_core.editing.id_map_file import IN_FOLDERS, npz_of
from bpe_core.errors import LONGEST_SENTENCE, OutputError, plain, throwing_exceptions
from bpe_core.formats import FORMATS
from bpe_core.history.arguments import Learned, history_of
from bpe_core.history.history import History
from bpe_core.history.token_texts import quoted
from bpe_core.methods.registry import METHODS
from bpe_core.support.paths import real_path
from bpe_core.support.progress import ALONE, Work
from bpe_core.support.small_files import read_small_file
from bpe_core.verification import checking
from bpe_core.verification.sampling import HARD_TEXTS, joined_tokens, special_texts

ADDED_PAD = "<|pad|>"
# The usual names in small letters; the first one that is there counts.
_USUAL = {
    "pad": ("<pad>", "[pad]", "<|pad|>", "<|padding|>", "<|finetune_right_pad_id|>", "<|pad_token|>"),
    "bos": ("<s>", "<bos>", "[bos]", "<|begin_of_text|>", "<|startoftext|>", "<|bos|>", "[cls]", "<|endoftext|>"),
    "eos": ("</s>", "<eos>", "[eos]", "<|end_of_text|>", "<|eos|>", "<|end|>", "<|im_end|>", "[sep]", "<|endoftext|>"),
    "unk": ("<unk>", "[unk]", "<|unk|>"),
}
MEANINGS = {
    "pad": "pads shorter texts of a batch",
    "bos": "begins a text",
    "eos": "ends a text",
    "unk": "replaces unknown characters",
}


@dataclass(frozen=True)
class Roles:
    """The special token of each role. An empty string means that the role has no token."""

    pad: str = ""
    bos: str = ""
    eos: str = ""
    unk: str = ""

    @property
    def given(self) -> dict[str, str]:
        return {role: text for role, text in asdict(self).items() if text}

    def missing(self, history: History) -> list[str]:
        """Return the tokens that have a role but are not in the table."""
        known = {*history.recipe.special_tokens, unknown_of(history)}
        return [text for text in dict.fromkeys(self.given.values()) if text not in known]


def unknown_of(history: History) -> str:
    id = history.alphabet.unknown_id
    return "" if id is None else history.alphabet.symbols[id].text.decode()


def guess_roles(specials: Sequence[str], unknown: str, **said: str | None) -> Roles:
    """Guess the special token of each role from the usual names of special tokens.

    `unknown` is the unknown token of the table, or empty. `said` holds the tokens that a user chose for roles. If it
    holds an empty string for a role, the role has no token. If no token has a usual name for padding, the token at the
    end of texts is also used for padding. If that token is missing, too, a token for padding is added.

    >>> guess_roles(("<|endoftext|>",), "")
    Roles(pad='<|endoftext|>', bos='<|endoftext|>', eos='<|endoftext|>', unk='')
    >>> guess_roles(("<s>", "</s>", "[PAD]"), "<unk>", eos="[PAD]")
    Roles(pad='[PAD]', bos='<s>', eos='[PAD]', unk='<unk>')
    """
    by_name = {special.lower(): special for special in reversed(specials)}
    token_of = {role: next((by_name[name] for name in names if name in by_name), "") for role, names in _USUAL.items()}
    token_of["unk"] = unknown or token_of["unk"]
    token_of |= {role: text for role, text in said.items() if text is not None}
    if not token_of["pad"] and said.get("pad") is None:
        token_of["pad"] = token_of["eos"] or ADDED_PAD
    return Roles(**token_of)


def roles_of(history: History, **said: str | None) -> Roles:
    return guess_roles(history.recipe.special_tokens, unknown_of(history), **said)


Side = Literal["right", "left"]


@dataclass(frozen=True)
class Delivery:
    """The user's choices for a folder of tokenizer files that transformers loads."""

    roles: Roles
    padding_side: Side = "right"
    chat_template: str = ""


LIBRARY = "transformers"
MADE_TEXTS = 50
LONGEST_TEXT = 100_000  # characters of the user's text
BATCH = ("the lowest price is lower", "the", "")
# Variables of the library.
QUIET = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "TRANSFORMERS_NO_ADVISORY_WARNINGS": "1",
    "TRANSFORMERS_VERBOSITY": "critical",
}


def checked_by_loading(
    verification: checking.Verification, files: Mapping[Path, bytes], history: History, delivery: Delivery, text: str
) -> checking.Verification:
    """Load the folder with transformers, and add the differences to the verification.

    Ids, roles and a padded batch are compared. No network is used.
    """
    with without_network_or_advice():
        try:
            import tokenizers
            from transformers import AutoTokenizer  # optional libraries, which only serve for comparison
        except ImportError:
            note = f"{LIBRARY} is not installed here, so only tokenizer.json was checked, not the folder as a whole."
            return replace(verification, cannot_hold=(*verification.cannot_hold, note))
        import tempfile  # takes a while to load

        with tempfile.TemporaryDirectory() as folder:
            for path, content in files.items():
                Path(folder, path.name).write_bytes(content)
            try:
                with throwing_exceptions():
                    loaded = AutoTokenizer.from_pretrained(folder, local_files_only=True)
                    plainly = tokenizers.Tokenizer.from_file(str(Path(folder, "tokenizer.json")))
                    wrong = [*_differing(loaded, plainly, history, delivery, text)]
            except Exception as error:  # any exception of another library
                wrong = [plain(f"{LIBRARY} does not load the folder: {error}", LONGEST_SENTENCE)]
    return verification.with_differences(LIBRARY, wrong)


@contextmanager
def without_network_or_advice() -> Iterator[None]:
    """Keep transformers from using a network and from printing advice, until the `with` block ends."""
    before = {name: os.environ.get(name) for name in QUIET}
    os.environ.update(QUIET)
    logger = logging.getLogger(LIBRARY)
    level = logger.level
    try:
        logger.setLevel(logging.CRITICAL)
        yield
    finally:
        logger.setLevel(level)
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _differing(loaded: Any, plainly: Any, history: History, delivery: Delivery, text: str) -> Iterator[str]:
    roles = delivery.roles
    for role, token in roles.given.items():
        same = loaded.convert_tokens_to_ids(token) == plainly.token_to_id(token)
        if getattr(loaded, f"{role}_token") != token or not same:
            yield f"{LIBRARY} does not use {quoted(token)} for {role}, but another token."
    samples = [*HARD_TEXTS, text[:LONGEST_TEXT], *special_texts(history, history.recipe)]
    samples += islice(joined_tokens(history, MADE_TEXTS), MADE_TEXTS)
    spelled = [token for token in roles.given.values() if token not in history.recipe.special_tokens]
    for sample in samples:
        if any(token in sample for token in spelled):
            continue  # with a role it becomes a token wherever it is spelled
        ids = plainly.encode(sample, add_special_tokens=False).ids
        if loaded(sample, add_special_tokens=False)["input_ids"] != ids:
            yield f"{LIBRARY} splits {quoted(sample)} differently from tokenizer.json."
        elif loaded.decode(ids) != plainly.decode(ids, skip_special_tokens=False):
            yield f"{LIBRARY} decodes {quoted(sample)} differently from tokenizer.json."
    if roles.pad and not _pads(loaded, roles.pad):
        yield f"{LIBRARY} does not pad texts with {quoted(roles.pad)}."
    if delivery.chat_template not in ("", loaded.chat_template):
        yield f"{LIBRARY} does not find the chat template."


def _pads(loaded: Any, pad: str) -> bool:
    batch = loaded(list(BATCH), padding=True)
    rows = batch["input_ids"]
    masks = batch["attention_mask"]
    filled = {id for row, mask in zip(rows, masks, strict=True) for id, on in zip(row, mask, strict=True) if not on}
    return len({len(row) for row in rows}) == 1 and filled == {loaded.convert_tokens_to_ids(pad)}


_TEXT = """\
# A tokenizer of {size:,} tokens

Learned by {method} with BPE Explorer. It splits texts as `tokenizer.json` says.
No special tokens are added to a text automatically.
{roles}
## Loading it

With transformers (`pip install transformers`), from the folder that holds this one:

```python
from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("{{folder}}")
tokenizer("the lowest price").input_ids
{batch}{chat}```

With tokenizers alone:

```python
from tokenizers import Tokenizer

tokenizer = Tokenizer.from_file("{{folder}}/tokenizer.json")
tokenizer.encode("the lowest price").ids
```

`idmap.npz` says which id each token had in the table before, and which old tokens each new token is made of.

With BPE Explorer, which shows how the tokens were learned and why a text is split at each place:

```python
import bpe_core as bpe




bpe.open("{{folder}}/tokenizer.json").encode("the lowest price")
```
"""
_BATCH = 'tokenizer(["the lowest price", "the"], padding=True)  # a batch: {pad} fills up the second text\n'
_CHAT = 'tokenizer.apply_chat_template([{"role": "user", "content": "Hello"}], tokenize=False)\n'


def readme_of(history: History, folder: str, delivery: Delivery) -> str:
    roles = delivery.roles
    lines = "".join(f"- `{role}_token` is `{text}`: it {MEANINGS[role]}.\n" for role, text in roles.given.items())
    return _TEXT.format(
        size=history.vocabulary_size,
        method=METHODS[history.recipe.method].title,
        roles=f"\n{lines}" if lines else "",
        batch=_BATCH.format(pad=roles.pad) if roles.pad else "",
        chat=_CHAT if delivery.chat_template else "",
    ).replace("{folder}", folder)


TOKENIZER = "tokenizer.json"
CONFIG = "tokenizer_config.json"
README = "README.md"
LONGEST_TEMPLATE = 1_000_000  # characters


def prepare_folder(
    history: History,
    path: Path | str,
    delivery: Delivery,
    *,
    merges: int | None = None,
    text: str = "",
    old: History | None = None,
    work: Work = ALONE,
) -> checking.PreparedExport:
    """Create the files of the folder in memory and check them.

    The files include a map from old ids to new ids. `old` is the table with the old ids, by default `history`
    itself.
    """
    target = Path(path)
    if target.exists() and not target.is_dir():
        raise OutputError(f"{target} is a file; name a folder, or a file with the ending of a format.")
    table = history if merges is None else history.first(merges)
    added = delivery.roles.missing(table)
    table = with_special_tokens(table, added)
    written = checking.prepare_export(table, target / TOKENIZER, format=FORMATS["tokenizer.json"], text=text, work=work)
    files = {
        **written.files,
        target / CONFIG: config_of(delivery).encode(),
        target / README: readme_of(table, real_path(target).name, delivery).encode(),
    }
    numbered = table.numbered(written.format.numbers(table))
    id_map = IdMap.of(history if old is None else old, numbered, cancelled=work.cancelled)
    verification = checked_by_loading(written.verification, files, table, delivery, text)
    verification = replace(verification, chosen=_about(delivery.roles, added))
    files[target / IN_FOLDERS] = npz_of(id_map)
    return replace(written, path=target, files=files, verification=verification, id_map=id_map)


def deliver(
    learned: Learned,
    path: Path | str,
    *,
    padding_side: Side = "right",
    chat_template: str = "",
    anyway: bool = False,
    old: Learned | None = None,
    **roles: str,
) -> checking.PreparedExport:
    """Write a folder that transformers loads: the tokenizer, its configuration, a description and a map of ids.

    The files are loaded and compared with the table before they are put in place.

    Parameters
    ----------
    learned
        A study, or another object with a history.
    path
        The folder. It is created if it does not exist.
    padding_side
        The side on which shorter texts of a batch are padded.
    chat_template
        The template that turns a chat into one text. An empty string means no template.
    anyway
        Whether to write the folder even if the loaded tokenizer does not agree with the table. By default an
        `OutputError` is raised, and nothing is written.
    old
        The table that gives the old ids for the map of ids, such as the table that `learned` was extended from. By
        default this is the table of `learned` itself.
    **roles
        The special tokens for `pad`, `bos`, `eos` and `unk`. A role that is not given is guessed from the names of the
        special tokens.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import bpe_core as bpe
    >>> study = bpe.train("low low lower", "gpt2", vocab_size=258)
    >>> with TemporaryDirectory() as folder:
    ...     prepared = deliver(study, Path(folder, "model"), eos="<end>")
    ...     sorted(file.name for file in Path(folder, "model").iterdir())
    ['README.md', 'idmap.npz', 'tokenizer.json', 'tokenizer_config.json']
    """
    history = history_of(learned)
    delivery = Delivery(roles_of(history, **roles), padding_side, chat_template)
    prepared = prepare_folder(history, path, delivery, old=None if old is None else history_of(old))
    verification = prepared.verification
    if not (verification.agrees or anyway):
        raise OutputError(f"Nothing was written: {verification.sentence}. {' '.join(verification.differences[:1])}")
    prepared.put_in_place()
    return prepared


def config_of(delivery: Delivery) -> str:
    """Return the content of tokenizer_config.json, which says how `AutoTokenizer` uses tokenizer.json."""
    config: dict[str, object] = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "clean_up_tokenization_spaces": False,
        "padding_side": delivery.padding_side,
        **{f"{role}_token": text for role, text in delivery.roles.given.items()},
    }
    if delivery.chat_template:
        config["chat_template"] = delivery.chat_template
    return json.dumps(config, ensure_ascii=False, indent=2) + "\n"


def read_template(path: Path | str) -> str:
    text = read_small_file(path, "the chat template", OutputError)
    if not text.strip() or len(text) > LONGEST_TEMPLATE:
        raise OutputError(f"The chat template {path} is empty, or has more than {LONGEST_TEMPLATE:,} characters.")
    return text


def with_special_tokens(history: History, added: list[str]) -> History:
    """Return the history with more special tokens. Their ids come after all other ids."""
    if not added:
        return history
    numbers = history.numbers
    if numbers is not None:
        numbers = np.concatenate([numbers, int(numbers.max(initial=-1)) + 1 + np.arange(len(added))])
    grown = history.numbered(numbers)
    specials = (*history.recipe.special_tokens, *added)
    size = history.recipe.vocab_size
    room = {} if size is None else {"vocab_size": size + len(added)}
    grown.recipe = history.recipe.with_changes(special_tokens=specials, **room)
    return grown


def _about(roles: Roles, added: list[str]) -> tuple[str, ...]:
    notes = [f"{quoted(text)} is added as a special token, because no token had this text." for text in added]
    if roles.pad and roles.pad == roles.eos:
        notes.append(
            f"{quoted(roles.pad)} pads texts and also ends texts. To distinguish the two uses, name another "
            "padding token."
        )
    return tuple(notes)

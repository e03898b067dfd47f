"""What special tokens are for: filling up, beginning, ending, standing for what is unknown.

Tokens with a usual name are guessed. What ends a text also fills up; if nothing does, a token is added for that.

    >>> guessed(("<|endoftext|>",), "")
    Roles(pad='<|endoftext|>', bos='<|endoftext|>', eos='<|endoftext|>', unk='')
    >>> guessed(("<s>", "</s>", "[PAD]"), "<unk>", eos="[PAD]")
    Roles(pad='[PAD]', bos='<s>', eos='[PAD]', unk='<unk>')
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from bpe_core.history.history import History

ADDED_PAD = "<|pad|>"
# The usual names, the first that is there counts; in small letters.
_USUAL = {
    "pad": ("<pad>", "[pad]", "<|pad|>", "<|padding|>", "<|finetune_right_pad_id|>", "<|pad_token|>"),
    "bos": ("<s>", "<bos>", "[bos]", "<|begin_of_text|>", "<|startoftext|>", "<|bos|>", "[cls]", "<|endoftext|>"),
    "eos": ("</s>", "<eos>", "[eos]", "<|end_of_text|>", "<|eos|>", "<|end|>", "<|im_end|>", "[sep]", "<|endoftext|>"),
    "unk": ("<unk>", "[unk]", "<|unk|>"),
}
MEANINGS = {
    "pad": "fills shorter texts of a batch up",
    "bos": "begins a text",
    "eos": "ends a text",
    "unk": "means what is unknown",
}


@dataclass(frozen=True)
class Roles:
    """The token of each role by its text; empty: none."""

    pad: str = ""
    bos: str = ""
    eos: str = ""
    unk: str = ""

    @property
    def given(self) -> dict[str, str]:
        return {role: text for role, text in asdict(self).items() if text}

    def missing(self, history: History) -> list[str]:
        """Return those that the table has no token for yet."""
        known = {*history.recipe.special_tokens, unknown_of(history)}
        return [text for text in dict.fromkeys(self.given.values()) if text not in known]


def unknown_of(history: History) -> str:
    id = history.alphabet.unknown_id
    return "" if id is None else history.alphabet.symbols[id].text.decode()


def guessed(specials: Sequence[str], unknown: str, **said: str | None) -> Roles:
    """Guess the roles by usual names, but for those that are given; an empty text: there is none."""
    by_name = {special.lower(): special for special in reversed(specials)}
    found = {role: next((by_name[name] for name in names if name in by_name), "") for role, names in _USUAL.items()}
    found["unk"] = unknown or found["unk"]
    found |= {role: text for role, text in said.items() if text is not None}
    if not found["pad"] and said.get("pad") is None:
        found["pad"] = found["eos"] or ADDED_PAD
    return Roles(**found)


def roles_of(history: History, **said: str | None) -> Roles:
    return guessed(history.recipe.special_tokens, unknown_of(history), **said)

"""The names by which llama.cpp recognizes special tokens, even if the file lists them as ordinary tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bpe_core.formats.sentencepiece_fields import Kind

_ENDS = (  # names of tokens that end an answer
    "<|eot_id|> <|im_end|> <|end|> <|return|> <|call|> <|flush|> <|calls|> <end_of_turn> <|endoftext|> </s> <|eom_id|> "
    "<EOT> _<EOT> [EOT] [EOS] <|end_of_text|> <end_of_utterance> <eos> <turn|> <|tool_response> "
    "<｜end▁of▁sentence｜> [e~["
)
_IN_CODE = {  # names of tokens that mark code to fill in, by the value of the file that can name another token
    ("fim_pre", "prefix"): (
        "<|fim_prefix|> <fim-prefix> <fim_prefix> <｜fim▁begin｜> <PRE> ▁<PRE> <|code_prefix|> <|prefix|>"
    ),
    ("fim_suf", "suffix"): (
        "<|fim_suffix|> <fim-suffix> <fim_suffix> <｜fim▁hole｜> <SUF> ▁<SUF> <|code_suffix|> <|suffix|>"
    ),
    ("fim_mid", "middle"): (
        "<|fim_middle|> <fim-middle> <fim_middle> <｜fim▁end｜> <MID> ▁<MID> <|code_middle|> <|middle|>"
    ),
    ("fim_pad",): "<|fim_pad|> <fim-pad> <fim_pad> <PAD> [PAD]",
    ("fim_rep",): "<|fim_repo|> <|repo_name|> <fim-repo> <REPO> <reponame>",
    ("fim_sep",): "<|file_sep|>",
}
_ALWAYS_FOUND = ("<|channel|>", "<|message|>", "<|start|>", "<|constrain|>")
# if one of these is there, <|end|> only ends a part
_CALLS = {"<|call|>", "<|calls|>"}
_WITH_CALLS = {"<|return|>", "<|flush|>"}


def kinds_by_name(texts: Sequence[str], kinds: Sequence[Kind], section: dict[str, Any]) -> tuple[list[Kind], list[str]]:
    """Return the kinds of the tokens as llama.cpp changes them, and the tokens whose kind is doubtful.

    Several names may have the same role, and llama.cpp changes the kind of only one of these tokens. If a file has
    several of them, their kinds are doubtful, because llama.cpp searches for them in no fixed order.

    >>> kinds_by_name(["a", "</s>", "<PRE>", "<|start|>"], [Kind.NORMAL] * 4, {})[0]
    [<Kind.NORMAL: 1>, <Kind.CONTROL: 3>, <Kind.CONTROL: 3>, <Kind.USER_DEFINED: 4>]
    """
    kind_of = dict(zip(texts, kinds, strict=True))
    there = kind_of.keys() & {*_ENDS.split()}
    doubtful = list[str]()
    changed = dict.fromkeys(there, Kind.CONTROL)
    for keys, named in _IN_CODE.items():
        present = [] if any(f"{key}_token_id" in section for key in keys) else [*filter(kind_of.get, named.split())]
        if len(present) == 1:
            changed[present[0]] = Kind.CONTROL
        elif any(kind_of[text] != Kind.CONTROL for text in present):
            doubtful += present
    changed |= dict.fromkeys(_ALWAYS_FOUND, Kind.USER_DEFINED)
    if there & _CALLS and there & _WITH_CALLS:
        changed["<|end|>"] = Kind.USER_DEFINED
    if "<|tool_response>" in there:
        changed["</s>"] = Kind.NORMAL
    return [changed.get(text, kind) for text, kind in kind_of.items()], doubtful

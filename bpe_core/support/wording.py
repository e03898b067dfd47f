"""Functions that write numbers and names in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath


def count_text(count: int, thing: str, things: str = "") -> str:
    """Return a number with its noun.

    >>> count_text(1, "merge"), count_text(1200, "merge"), count_text(0, "byte")
    ('1 merge', '1,200 merges', '0 bytes')
    """
    return f"{count:,} {thing if count == 1 else things or thing + 's'}"


# The verbs after the number of things in sentences, for several things and for one.
_VERBS = {
    "are": "is",
    "were": "was",
    "have": "has",
    "occur": "occurs",
    "cross": "crosses",
    "repeat": "repeats",
    "share": "shares",
    "include": "includes",
    "differ": "differs",
    "become": "becomes",
    "stay": "stays",
    "agree": "agrees",
    "happen": "happens",
    "cannot": "cannot",
}

_PRONOUNS = {"they": "it", "them": "it", "their": "its"}
_BEFORE_VERBS = {"and", "but", "it"}


def count_sentence(count: int, sentence: str) -> str:
    """Put a number before a sentence. The sentence is given in the plural, and becomes singular after the number 1.

    >>> count_sentence(2, "tokens are matched"), count_sentence(1, "special tokens are matched")
    ('2 tokens are matched', '1 special token is matched')
    >>> count_sentence(1, "tokens cannot be made, and are left out with their ids")
    '1 token cannot be made, and is left out with its ids'
    """
    if count != 1:
        return f"{count:,} {sentence}"
    words = sentence.split(" ")
    noun = next(place for place, word in enumerate(words) if word.endswith("s"))
    words[noun] = words[noun].removesuffix("s")
    is_first = True
    for place in range(noun + 1, len(words)):
        word = words[place].rstrip(":,")
        if word in _VERBS and (is_first or words[place - 1] in _BEFORE_VERBS):
            is_first = False
            words[place] = words[place].replace(word, _VERBS[word])
        elif word in _PRONOUNS:
            words[place] = words[place].replace(word, _PRONOUNS[word])
    return f"{count:,} {' '.join(words)}"


def as_call(name: str, /, *values: object, **named: object) -> str:
    """Write a call with these arguments as Python code.

    >>> as_call("Group", "en", weight="2/5")
    "Group('en', weight='2/5')"
    """
    return f"{name}({', '.join([*map(repr, values), *(f'{key}={value!r}' for key, value in named.items())])})"


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """Return a question that suggests the most similar name for a mistyped word.

    Return an empty string if no name is similar.

    >>> did_you_mean("trian", ["train", "trim"]), did_you_mean("fly", ["train", "trim"])
    ('; did you mean train?', '')
    """
    from difflib import get_close_matches  # needed only after a mistake

    alike = get_close_matches(word, list(names), n=1)
    return f"; did you mean {alike[0]}?" if alike else ""


def short_names(names: Sequence[str]) -> list[str]:
    """Return a short name for each path, without the parts that all paths share. Different paths get different names.

    >>> short_names(["dom/multi-de.txt", "dom/multi-fr.txt"]), short_names(["ours.json", "gpt2"])
    (['de', 'fr'], ['ours.json', 'gpt2'])
    """
    if not any("/" in name or "\\" in name for name in names):
        return list(names)
    paths = [PurePosixPath(name.replace("\\", "/")) for name in names]
    parts = [path.parts for path in paths]
    shared = _shared_beginning([part[:-1] for part in parts])  # folders
    endings = {path.suffix for path in paths}
    short = ["/".join(part[shared:]) for part in parts]
    if len(endings) == 1:
        short = [name.removesuffix(*endings) for name in short]
    if len(names) > 1:
        beginning = short[0][: _shared_beginning(short)]
        cut = max(beginning.rfind(sign) for sign in "-_. ") + 1
        short = [name[cut:] for name in short]
    return short if len(set(short)) == len(set(names)) and all(short) else list(names)


def _shared_beginning(rows: Iterable[Sequence[str]]) -> int:
    """Return the length of the common beginning of all rows."""
    alike = 0
    for items in zip(*rows, strict=False):
        if len(set(items)) > 1:
            break
        alike += 1
    return alike


def size_text(size: float) -> str:
    """Return a number of bytes as text, in the largest unit that fits.

    >>> size_text(512), size_text(1_500), size_text(10_797_148)
    ('512 B', '1.5 kB', '10.8 MB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if size < 999.5 or unit == "GB":
            break
        size /= 1000
    return f"{size:.0f} {unit}" if unit == "B" or size >= 100 else f"{size:.1f} {unit}"

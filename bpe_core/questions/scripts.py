"""The question `scripts`. It asks how much of a vocabulary belongs to each script."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace

import numpy as np

from bpe_core.asking import Answer, Question
from bpe_core.asking.shared import steps_parameter
from bpe_core.figures.from_table import dots_chart
from bpe_core.history.token_texts import decoded
from bpe_core.studies.study import Study
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import ALONE, Work
from bpe_core.support.wording import count_text
from bpe_core.text.script_names import characters_of_script, script_of

COMMON = "Common"  # digits, punctuation and spaces
INHERITED = "Inherited"  # marks that take the script of the letter before them
MIXED = "several scripts"
PART = "part of a character"
HEADINGS = {
    "share": "share of the vocabulary",
    "characters": "characters in tokens",
    "in_unicode": "characters in Unicode",
    "coverage": "covered",
}


@dataclass(frozen=True)
class Scripts(Question):
    """Show how many tokens each script has in the vocabulary, and how many of its characters occur in tokens.

    A token belongs to the script of its letters. Digits, punctuation and spaces belong to no script, and are called
    Common. Tokens with letters of several scripts are in a separate row, and so are tokens that contain a part of a
    character. Special tokens, unknown tokens and tokens for single bytes of unknown characters are not counted.
    """

    about = "the vocabulary"
    asks = "Which scripts have tokens?"
    turn = 9
    follows_time = True
    examples = """\
examples:
  bpe-explorer scripts tokenizer.json
      Show the scripts of a vocabulary, the one with the most tokens first.

  bpe-explorer scripts merges.csv --at 300 --latex
      Print the table after 300 merges for a paper.
"""
    in_python = """
        >>> import bpe_core as bpe
        >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
        >>> bpe.scripts(study).columns["tokens"].tolist()
        [128, 76, 58]
    """

    at: int | None = steps_parameter()

    def answer(self, study: Study, work: Work = ALONE) -> Answer:
        history = study.at(study.inside.checked_step_count(self.at)).history
        texts = decoded(history)
        tokens: Counter[str] = Counter()
        characters: defaultdict[str, set[str]] = defaultdict(set)
        symbols = history.alphabet.but_seeds
        no_text = {id for id, symbol in enumerate(symbols) if symbol.kind in ("fallback", "unknown")}
        for id in history.vocabulary.tolist():
            if id < history.first_special and id not in no_text:
                name, letters = _script(texts[id])
                tokens[name] += 1
                for letter in letters:
                    characters[script_of(letter)].add(letter)
        names = sorted(tokens, key=lambda name: (-tokens[name], name))
        whole = sum(tokens.values())
        covered = [len(characters[name]) if name in characters else None for name in names]
        in_unicode = [characters_of_script(name) if name in characters else None for name in names]
        shares = zip(covered, in_unicode, strict=True)
        table = DataTable(
            {
                "script": names,
                "tokens": np.array([tokens[name] for name in names], np.int64),
                "share": np.array([tokens[name] / max(1, whole) for name in names]),
                "characters": covered,
                "in_unicode": in_unicode,
                "coverage": [some / of if some is not None and of else None for some, of in shares],
            }
        )
        real = [name for name in names if name in characters and name not in (COMMON, INHERITED)]
        most = f"The script with the most tokens is {real[0]}: {tokens[real[0]]:,} of {whole:,}." if real else ""
        first = most or "No token holds a letter."
        sentence = f"{first} {count_text(len(real), 'script has', 'scripts have')} tokens." if len(real) > 1 else first
        shown = DataTable({"tokenizer": ["tokens"] * len(names), "text": names, "tokens": table.columns["tokens"]})
        figure = replace(dots_chart(shown), title="The number of tokens of each script.", sentence=sentence)
        return Answer(table, (sentence,), figure, headings=HEADINGS)


def _script(raw: bytes) -> tuple[str, str]:
    """Return the script of a token's letters.

    Also return the token's characters, if its bytes form whole characters.
    """
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return PART, ""
    scripts = {script_of(letter) for letter in text} - {COMMON, INHERITED}
    if len(scripts) > 1:
        return MIXED, text
    return next(iter(scripts), COMMON), text

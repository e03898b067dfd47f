"""The common mistakes of trainers.

Each mistake is a sentence, with the rules that a trainer with this mistake follows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from bpe_core.insight.exercise_rules import GPT2, GPT4, TAKES, Rules
from bpe_core.support.wording import count_text

BYTES = 256  # tokens before any merge
LOOKAHEAD = r"|\s+(?!\S)"


def mistakes_of(rules: Rules) -> Iterator[tuple[str, Rules]]:
    """Yield each mistake, with the rules that a student with this mistake follows. Common mistakes come first."""
    yield from _of_ties(rules)
    yield from _of_specials(rules)
    yield from _of_counts(rules)
    yield from _of_joining(rules)
    yield from _of_patterns(rules)
    yield from _of_texts(rules)
    if rules.least > 1:
        yield f"Pairs that occur fewer than {count_text(rules.least, 'time')} are merged, too.", replace(rules, least=1)


def _of_ties(rules: Rules) -> Iterator[tuple[str, Rules]]:
    wanted = TAKES[rules.tie]
    for tie, takes in TAKES.items():
        if tie != rules.tie:
            chosen = f"takes the {takes}, but the exercise takes the {wanted}"
            yield f"Ties: among equally frequent pairs the trainer {chosen}.", replace(rules, tie=tie)


def _of_specials(rules: Rules) -> Iterator[tuple[str, Rules]]:
    texts = rules.texts
    if not texts.specials:
        return
    yield (
        "Special tokens are not taken out of the text before it is split.",
        replace(rules, texts=replace(texts, specials=())),
    )
    yield (
        "Special tokens are taken out of the text, but the text before a special token is joined with the text "
        "after it.",
        replace(rules, texts=replace(texts, specials_become="nothing")),
    )
    yield (
        "Special tokens are counted as words, and merges are learned inside them.",
        replace(rules, texts=replace(texts, specials_become="words")),
    )


def _of_counts(rules: Rules) -> Iterator[tuple[str, Rules]]:
    yield (
        "Counts are outdated: the counts of the pairs next to a merge are not lowered.",
        replace(rules, updates="not lowered"),
    )
    yield "Counts are outdated: pairs with the new token are not counted.", replace(rules, updates="not raised")
    yield "Counts are outdated: pairs are counted only once, before the first merge.", replace(rules, updates="none")
    yield (
        "Counts are outdated: after a merge, a count changes by one for each word, however often the word occurs.",
        replace(rules, updates="without weights"),
    )
    yield (
        "Counts are outdated: the merged pair keeps its count, so it is merged again and again.",
        replace(rules, updates="pair kept"),
    )
    yield (
        "Overlaps: in aaa the trainer counts the pair aa once, but the pair occurs twice.",
        replace(rules, counts_overlaps=False),
    )
    yield (
        "Each different word is counted once, however often it occurs.",
        replace(rules, texts=replace(rules.texts, weighs_words=False)),
    )


def _of_joining(rules: Rules) -> Iterator[tuple[str, Rules]]:
    yield (
        "Overlaps: the trainer merges aaa from the right, as a + aa, but must merge from the left.",
        replace(rules, joins="from right"),
    )
    yield "Only the first occurrence of a pair in each word is merged.", replace(rules, joins="once a word")
    yield (
        "Merges replace text: the pair “a” + “t” is also joined where “t” follows a longer token that ends in “a”.",
        replace(rules, joins="as text"),
    )
    yield (
        "Words are made of characters at first, but must be made of bytes.",
        replace(rules, symbols="characters"),
    )


def _of_patterns(rules: Rules) -> Iterator[tuple[str, Rules]]:
    pattern = rules.texts.pattern
    if not pattern:
        return
    others = {
        "Pairs cross words: the text is not split before pairs are counted.": "",
        "The text is split at white space, and the white space is dropped.": r"\S+",
        "The text is split before white space only, so signs stay with their words.": r"\s*\S+|\s+",
        "The text is split into words and signs without white space.": r"\w+|[^\w\s]+",
        "The text is split by the pattern of GPT-2.": GPT2,
        "The text is split by the pattern of GPT-4.": GPT4,
    }
    lacks = "The pattern lacks its lookahead, so a word loses its space where several spaces precede it."
    if LOOKAHEAD in pattern:
        others = {lacks: pattern.replace(LOOKAHEAD, ""), **others}
    contractions, _, rest = pattern.partition(")|")
    if contractions.startswith("'("):
        others["The pattern lacks its part for contractions such as 's."] = rest
    for sentence, other in others.items():
        if other != pattern:
            yield sentence, replace(rules, texts=replace(rules.texts, pattern=other))


def _of_texts(rules: Rules) -> Iterator[tuple[str, Rules]]:
    texts = rules.texts
    changed = {
        "Lines are trained one by one, each with its end.": replace(texts, by_lines="with ends"),
        "Lines are trained one by one, without their ends.": replace(texts, by_lines="without ends"),
        "Lines are trained one by one, without the spaces around them.": replace(texts, by_lines="stripped"),
        "The text is read with CR LF changed to LF.": replace(texts, line_ends="LF"),
        "The text is read with LF changed to CR LF.": replace(texts, line_ends="CR LF"),
        "The ends of lines become spaces.": replace(texts, line_ends="spaces"),
        "The ends of lines are left out of the text.": replace(texts, line_ends="nothing"),
        "The text is made lower-case.": replace(texts, letters="lower"),
        "Characters that are not ASCII are left out of the text.": replace(texts, letters="ASCII"),
    }
    for sentence, other in changed.items():
        yield sentence, replace(rules, texts=other)


def mistake_of_size(missing: int, rules: Rules) -> str:
    """Return the likely reason why a result has too few merges. If `missing` is negative, it has too many."""
    specials = len(rules.texts.specials)
    few = "few" if missing > 0 else "many"
    wrong = f"The size is wrong: the file has {count_text(abs(missing), 'merge')} too {few}."
    if abs(missing) in (BYTES, BYTES + specials):
        how = "not counted as tokens" if missing < 0 else "counted twice"
        return f"{wrong} The {BYTES} bytes were probably {how}."
    if specials and missing == -specials:
        return f"{wrong} Special tokens were probably not counted as tokens, or the training ends one merge too late."
    if abs(missing) == 1:
        late = "early" if missing > 0 else "late"
        return f"{wrong} The training ends one merge too {late}, or special tokens are miscounted."
    return f"{wrong} Special tokens and the {BYTES} bytes count as tokens."

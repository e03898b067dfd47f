"""Articles for exercises, made by a small grammar. They replace OpenWebText if nothing may be downloaded.

The words are invented: syllables make stems, and stems take English endings. As in a real text, a few words are common
and most words are rare. Names, places, numbers, dates, addresses, programs and words in eleven scripts occur, too. The
articles mean nothing, but a tokenizer has as much to learn from them as from a real text. The same seed gives the same
articles.

>>> text = articles(2)
>>> text.count("<|endoftext|>"), text == articles(2), text == articles(2, seed=1)
(2, True, False)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import accumulate
from random import Random

from bpe_core.text.stories import END_OF_STORY, name_by

STEMS = 9_000
WORDS_OF_A_SCRIPT = 900
_CLUSTERS = ("bl", "br", "ch", "cl", "cr", "dr", "fl", "fr", "gl", "gr", "pl", "pr", "sl", "sp", "st", "str", "th")
_ONSETS = (*"bcdfghjklmnprstvw", *_CLUSTERS)
_VOWELS = (*"aeiouaeio", "ai", "ea", "ee", "ie", "oa", "oo", "ou")
_CODAS = ("", "", "", *"bdglmnprstx", "ck", "ll", "mp", "nd", "ng", "nt", "rd", "rk", "rt", "ss", "st")
_ENDINGS = ("", "", "", "", "s", "ed", "ing", "er", "ly", "al", "ness", "tion", "able", "ment", "ous", "ist", "ful")
_PREFIXES = (*[""] * 8, "un", "re", "over", "inter", "sub", "non", "anti")
_ENDS_OF_PLACES = ("ton", "burg", "ville", "field", "ford", "ham", "stead", " Bay", " Hills", " County")
_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
# The first and the last letter of each script, the usual length of a word, and what stands between words.
_SCRIPTS = (
    ("а", "я", 7, " "),
    ("α", "ω", 7, " "),
    ("א", "ת", 5, " "),
    ("ا", "ي", 5, " "),
    ("अ", "ह", 4, " "),
    ("ა", "ჰ", 7, " "),
    ("ก", "ฮ", 5, ""),
    ("ぁ", "ん", 4, ""),
    ("ァ", "ヶ", 4, ""),
    ("一", "丿", 2, ""),
    ("가", "갛", 3, " "),
)
_SENTENCES = (
    "The {w} of the {w} {v} the {w}, and {name} {v} a {w} {w}.",
    "In {year}, the {w} {w} was {v} by {name} {surname} from {place}.",
    '"We {v} that the {w} is not {w}," {surname} said on {date}.',
    "According to the {w}, about {number} {w} were {v} in {place} last year.",
    "It's {w} because they don't {v} the {w} {w}; it would have been {w}.",
    "At {time}, more than {percent} of all {w} had {v} the {w} in {place}.",
    "{name} {surname} ({year}-{year}) was a {w} {w} who {v} {w} and {w}.",
    "However, this {w} costs {price} and can be {v} without any {w}.",
    "How do you {v} a {w}? You need {small} {w}, a {w} and {percent} {w}.",
    "See {address} for the {w}, or write to {mail} before {date}.",
    "There are {small} {w} on the {w}: {w}, {w}, {w} and {w}.",
    "I think you're {w}. The {w} {w} that we {v} in {place} wasn't {w} at all!",
)
_TYPES = ("int", "str", "float", "list", "dict")


def articles(count: int, seed: int = 0) -> str:
    """Return `count` articles as one text, with a special token after each article."""
    writer = _Writer(Random(seed))
    return "".join(f"{writer.article()}\n{END_OF_STORY}" for _ in range(count))


class _Writer:
    """A writer of articles. It invents its words first, and then uses them again and again."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._words = sorted(self._different(STEMS, self._invented), key=len)  # common words are short
        self._verbs = [f"{word}ed" for word in self._words[: STEMS // 3]]
        self._names = self._different(STEMS // 6, lambda: name_by(random))
        self._places = [name + random.choice(_ENDS_OF_PLACES) for name in self._names[: STEMS // 18]]
        self._scripts = [self._words_in(first, last, length) for first, last, length, _ in _SCRIPTS]
        most = max(len(self._words), WORDS_OF_A_SCRIPT)
        # A word is rarer than the words before it, by Zipf's law.
        weights = list(accumulate(1 / (rank + 3) for rank in range(most)))
        self._first_weights = cache(lambda count: weights[:count])
        self._kinds: dict[str, Callable[[], str]] = {
            "w": self._inflected,
            "v": lambda: self._one_of(self._verbs),
            "name": lambda: self._one_of(self._names),
            "surname": lambda: self._one_of(self._names) + random.choice(("", "son", "man", "er")),
            "place": lambda: self._one_of(self._places),
            "year": lambda: str(random.randint(1_500, 2_030)),
            "number": lambda: f"{random.randint(1, 99)},{random.randint(0, 999):03}",
            "small": lambda: str(random.randint(2, 99)),
            "percent": lambda: f"{random.randint(1, 99)}.{random.randint(0, 9)}%",
            "price": lambda: f"${random.randint(1, 999)}.{random.randint(0, 99):02}",
            "time": lambda: f"{random.randint(0, 23)}:{random.randint(0, 59):02}",
            "date": lambda: f"{random.choice(_MONTHS)} {random.randint(1, 28)}, {random.randint(1_990, 2_030)}",
            "address": lambda: f"https://www.{self._word()}.{random.choice(('com', 'org', 'net'))}/{self._word()}.html",
            "mail": lambda: f"{self._one_of(self._names).lower()}@{self._word()}.com",
        }

    def article(self) -> str:
        """Return a new random article as text."""
        kind = self._random.random()
        if kind < 0.06:
            return self._program()
        if kind < 0.16:
            return self._in_another_script()
        paragraphs = [self._paragraph() for _ in range(self._random.randint(2, 7))]
        if kind < 0.3:
            paragraphs.append("\n".join(f"- {self._inflected()} {self._inflected()}" for _ in range(5)))
        if kind > 0.95:
            paragraphs.append("-" * 72)
        title = " ".join(self._word().capitalize() for _ in range(self._random.randint(2, 6)))
        return "\n\n".join((title, *paragraphs))

    def _paragraph(self) -> str:
        return " ".join(self._sentence() for _ in range(self._random.randint(2, 6)))

    def _sentence(self) -> str:
        parts = self._random.choice(_SENTENCES).split("{")
        filled = (part.split("}") for part in parts[1:])
        return parts[0] + "".join(self._kinds[kind]() + after for kind, after in filled)

    def _program(self) -> str:
        return "\n".join(self._function() for _ in range(self._random.randint(2, 5)))

    def _function(self) -> str:
        random = self._random
        name = f"{self._word()}_{self._word()}"
        argument = self._word()
        kind = random.choice(_TYPES)
        lines = [f"def {name}({argument}: {kind}, size={random.randint(0, 4_096)}):"]
        lines += [f'    """{self._sentence()}"""']
        lines += [f"    for i in range(len({argument})):"]
        lines += [f"        if {argument}[i] == 0x{random.randint(0, 65_535):04x}:"]
        lines += [f"            self.{self._word()} += {self._word()}[i + {random.randint(1, 9)}]"]
        lines += [f"    return {self._word()}({argument})", ""]
        return "\n".join(lines)

    def _in_another_script(self) -> str:
        script = self._random.randrange(len(_SCRIPTS))
        _, _, _, space = _SCRIPTS[script]
        words = self._scripts[script]
        sentences = (space.join(self._some_of(words, 9)) + "." for _ in range(self._random.randint(3, 9)))
        return " ".join(sentences)

    def _word(self) -> str:
        return self._one_of(self._words)

    def _inflected(self) -> str:
        return self._random.choice(_PREFIXES) + self._word() + self._random.choice(_ENDINGS)

    def _one_of(self, words: Sequence[str]) -> str:
        return self._some_of(words, 1)[0]

    def _some_of(self, words: Sequence[str], count: int) -> list[str]:
        return self._random.choices(words, cum_weights=self._first_weights(len(words)), k=count)

    def _different(self, count: int, make: Callable[[], str]) -> list[str]:
        words: dict[str, None] = {}  # in the order in which they were invented
        while len(words) < count:
            words[make()] = None
        return list(words)

    def _invented(self) -> str:
        return "".join(self._syllables(self._random.randint(1, 3)))

    def _syllables(self, count: int) -> Iterator[str]:
        for _ in range(count):
            yield self._random.choice(_ONSETS) + self._random.choice(_VOWELS) + self._random.choice(_CODAS)

    def _words_in(self, first: str, last: str, length: int) -> list[str]:
        letters = [chr(code) for code in range(ord(first), ord(last) + 1) if chr(code).isalpha()]

        def word() -> str:
            return "".join(self._random.choices(letters, k=self._random.randint(max(1, length - 2), length + 2)))

        return self._different(WORDS_OF_A_SCRIPT, word)

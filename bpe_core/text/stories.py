"""Short stories for exercises, made from a few sentences. They replace TinyStories where nothing may be downloaded.

The same seed gives the same stories. Most words are common, and the names are made of syllables, so that there are many
rare words, too.

>>> text = stories(2)
>>> text.count("<|endoftext|>"), text == stories(2), text == stories(2, seed=1)
(2, True, False)
"""

from __future__ import annotations

from random import Random

END_OF_STORY = "<|endoftext|>\n"
_STARTS = (
    "a",
    "ba",
    "bel",
    "bri",
    "cor",
    "da",
    "del",
    "e",
    "el",
    "fa",
    "fin",
    "flo",
    "ga",
    "gre",
    "hol",
    "i",
    "ja",
    "ka",
    "kel",
    "la",
    "li",
    "lor",
    "mar",
    "mi",
    "mor",
    "na",
    "nel",
    "no",
    "or",
    "pa",
    "pe",
    "qui",
    "ra",
    "ro",
    "sa",
    "sel",
    "sha",
    "ta",
    "tal",
    "tre",
    "u",
    "va",
    "ves",
    "wil",
    "ya",
    "za",
)
_MIDDLES = ("", "", "la", "ri", "no", "de", "va", "mi", "su", "to", "be", "lan", "ra", "ne", "vi", "do")
_ENDS = (
    "ba",
    "bel",
    "da",
    "dor",
    "ko",
    "la",
    "len",
    "lin",
    "lo",
    "mo",
    "mer",
    "na",
    "nell",
    "ni",
    "nor",
    "ra",
    "ric",
    "rin",
    "ro",
    "sa",
    "sha",
    "ta",
    "tan",
    "tha",
    "vi",
    "via",
    "vin",
    "win",
    "wen",
    "zo",
)
_WORDS: dict[str, tuple[str, ...]] = {
    "animal": ("cat", "dog", "frog", "hen", "bear", "rabbit", "mouse", "duck", "pony", "snail", "owl", "fox", "beetle"),
    "thing": ("ball", "kite", "boat", "drum", "apple", "lamp", "hat", "stone", "shell", "basket", "button", "ladder"),
    "place": ("garden", "park", "forest", "kitchen", "river", "hill", "market", "harbour", "meadow", "school", "attic"),
    "kind": ("little", "brave", "sleepy", "kind", "clever", "quiet", "curious", "friendly", "careful", "hungry", "shy"),
    "look": ("red", "shiny", "old", "blue", "round", "soft", "broken", "heavy", "yellow", "tiny", "wooden", "golden"),
    "feeling": ("happy", "sad", "proud", "tired", "surprised", "scared", "glad", "lonely", "excited", "thankful"),
    "deed": ("laughed", "jumped", "smiled", "waited", "listened", "clapped", "danced", "whispered", "ran", "sang"),
    "day": ("morning", "evening", "day", "night", "Monday", "Sunday", "winter day", "summer evening", "rainy day"),
}
_OPENINGS = (
    "Once upon a time there was a {kind} {animal} named {name}.",
    "One {day}, {name} went to the {place} with a {look} {thing}.",
    "{name} and {friend} lived in a {look} house near the {place}.",
    "{name} was a {kind} {animal} who loved the {place}.",
)
_MIDDLES_OF_STORY = (
    "There {name} found a {look} {thing}, and {deed}.",
    '"Look at my {thing}!" said {name}. "It is so {look}!"',
    "{friend} wanted the {thing}, but it was too {look}.",
    '"Can I play, too?" asked {friend}. {name} {deed} and said yes.',
    "But the {thing} fell into the {place}, and {name} was very {feeling}.",
    'A {kind} {animal} came by and asked, "Why are you {feeling}?"',
    "{name} looked for the {thing} in the {place} and in the {other_place}.",
    "They shared the {thing}, and both {deed}.",
    "It was {number} o'clock, and {friend} didn't know the way home.",
)
_CLOSINGS = (
    "From that day on, {name} and {friend} were good friends.",
    "{name} learned that it's nice to share.",
    "In the end everybody was {feeling}, and they went home.",
    'Then {name} was {feeling} and said, "Thank you, {friend}!"',
)


def stories(count: int, seed: int = 0) -> str:
    """Return `count` stories as one text, with a special token after each story."""
    random = Random(seed)
    return "".join(f"{_story(random)}\n{END_OF_STORY}" for _ in range(count))


def _story(random: Random) -> str:
    middles = [random.choice(_MIDDLES_OF_STORY) for _ in range(random.randint(2, 6))]
    sentences = [random.choice(_OPENINGS), *middles, random.choice(_CLOSINGS)]
    people = {"name": name_by(random), "friend": name_by(random)}
    return " ".join(sentence.format(**people, **_words(random)) for sentence in sentences)


def _words(random: Random) -> dict[str, str]:
    words = {kind: random.choice(choices) for kind, choices in _WORDS.items()}
    return words | {"other_place": random.choice(_WORDS["place"]), "number": str(random.randint(1, 12))}


def name_by(random: Random) -> str:
    return (random.choice(_STARTS) + random.choice(_MIDDLES) + random.choice(_ENDS)).capitalize()

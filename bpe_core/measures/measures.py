"""The list of all measures of tokenizers, each with its title, its unit, its meaning and its formula.

The columns of tables have the names of measures. Windows, commands, charts and help texts read the other facts from
here.

    >>> share = MEASURES["share_in_use"]
    >>> share.title, share.heading, share.shown(0.1234), MEASURES["tokens"].shown(1234)
    ('Share of the vocabulary in use', 'in use', '12.3%', '1,234')
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

Unit = Literal[
    "bytes", "tokens", "words", "places", "steps", "documents", "sentences", "bits", "seconds", "share", "ratio", ""
]

UNKNOWN_AT_MOST = 0.01  # a tokenizer that leaves out a larger share of a text is not compared by it
WHOLE_NUMBERS = ("bytes", "tokens", "words", "places", "steps", "documents", "sentences")


@dataclass(frozen=True)
class Measure:
    name: str  # the name of its column in every table
    title: str  # the title of an axis
    heading: str  # the heading of a narrow column
    unit: Unit  # a share is shown in percent, a ratio has no unit
    meaning: str  # a phrase that could end a list entry
    formula: str = ""
    digits: int = 3  # digits after the point; for a share, those of its percentage
    note: str = ""  # sentences on what to know before comparing numbers

    def shown(self, value: float | None) -> str:
        """Return a value as readable text. The text is empty if the value is unknown."""
        if value is None or value != value:
            return ""
        if self.unit in WHOLE_NUMBERS:
            return f"{value:,}"
        return f"{value:.{self.digits}%}" if self.unit == "share" else f"{value:.{self.digits}f}"

    @property
    def explanation(self) -> str:
        parts = (self.meaning, self.formula, self.note)
        return " ".join(part if part.endswith(".") else f"{part}." for part in parts if part)


BYTES_NOTE = (
    "All bytes of the given text count, including spaces and everything else outside words, before any "
    "normalization. For a list of words, and for a run from an older session, only the bytes of the words count. A "
    "symbol that is not text, such as an integer, counts as one byte."
)
PRETOKENS_NOTE = (
    "Pretokens are the pieces into which the recipe splits a text before any merge. So other recipes have other "
    "pretokens."
)
RENYI_FORMULA = (
    "Rényi efficiency: H / ln V, where H = ln(Σ p^α) / (1 − α) with α = 2.5, p the share of each token among all "
    "tokens of the text, and V the number of different tokens that occur in it. A value of 1 means that all "
    "tokens occur equally often. A few very frequent tokens, or many very rare tokens, lower the value."
)
BITS_FORMULA = (
    "Σ −log₂ p(b after a) / bytes of these words. a and b are neighbouring tokens of a word, and the edge of the word "
    "counts as a token before the first and after the last. p(b after a) = (max(0, n(ab) − D) + D · different after a "
    "· p(b)) / n(a), or p(b) where a never occurred. p(b) = (max(0, different before b − d) + d · different b / "
    "(V + 1)) / different pairs. n(ab) is the count of the pair in the training text, and n(a) the count of all pairs "
    "that begin with a. Three numbers of different tokens are used: those that follow a (different after a), those "
    "that come before b (different before b), and those that come second in any pair (different b). V is the number "
    "of tokens in the vocabulary, and 1 is added for the edge. D = n₁ / (n₁ + 2 n₂), where n₁ is the number of pairs "
    "that occurred once, and n₂ the number of pairs that occurred twice. d is computed in the same way from the "
    "numbers of different tokens before each token. D and d are 0.75 where n₁ or n₂ is 0"
)
BITS_NOTE = (
    "Held-out bits per byte: the bits that a smoothed model (interpolated Kneser-Ney) of pairs of tokens needs "
    "for held-out words. The model learns from the training text. A smaller number is better. The held-out words "
    "come from the text that you name, or else are every tenth word of the training text. Each word is measured "
    "alone: the words before it do not matter, and spaces that the recipe drops cost nothing. The measure compares "
    "the sizes of one run. Only some sizes are measured if all would take too long: with separate tables for blocks, "
    "with very long words, and above 65,536 pieces in methods that drop pieces. The answer then says how many. A "
    "trained model with a long memory may prefer larger vocabularies."
)

MEASURES: dict[str, Measure] = {
    measure.name: measure
    for measure in (
        # -- the tokenizer -----------------------------------------------------------------
        Measure("step", "Step", "step", "steps", "The training step after which the tokenizer is measured"),
        Measure(
            *("vocabulary", "Tokens in the vocabulary", "vocabulary", "tokens"),
            "The number of tokens in the vocabulary at that step, special tokens included",
        ),
        Measure(
            *("size", "Requested size", "size", "tokens"),
            (
                "The requested vocabulary size. The real size is in the column `vocabulary`. It is smaller if nothing "
                "more can be learned"
            ),
        ),
        # -- the text ----------------------------------------------------------------------
        Measure("documents", "Documents", "documents", "documents", "The number of texts that were measured"),
        Measure("bytes", "Bytes", "bytes", "bytes", "The size of the original text in UTF-8"),
        Measure(
            *("words", "Words", "words", "words"),
            (
                "The parts of the text between spaces and line ends, the same for all tokenizers. In a script "
                "without spaces, words are whole lines"
            ),
        ),
        Measure("pretokens", "Pretokens", "pretokens", "words", PRETOKENS_NOTE),
        # -- the text in tokens ------------------------------------------------------------
        Measure("tokens", "Tokens", "tokens", "tokens", "The number of tokens of the text"),
        Measure(
            *("bytes_per_token", "Bytes per token", "bytes/token", "ratio"),
            "More means that each token holds more of the text",
            "bytes / tokens",
            note=BYTES_NOTE,
        ),
        Measure(
            *("tokens_per_word", "Tokens per word", "tokens/word", "ratio"),
            "Fertility: a lower value means shorter sequences for the same text",
            "tokens / words",
            note="Words are the parts of the text between spaces, the same for all tokenizers.",
        ),
        Measure(
            *("tokens_per_pretoken", "Tokens per pretoken", "tokens/pretoken", "ratio"),
            "A lower value means that pretokens are split into fewer tokens",
            "tokens / pretokens",
            note=PRETOKENS_NOTE,
        ),
        Measure(
            *("renyi_efficiency", "Rényi efficiency", "Rényi", "ratio"),
            "The evenness of the counts of tokens, from 0 to 1",
            RENYI_FORMULA,
            note="Longer texts use more different tokens. Compare tokenizers on the same text.",
        ),
        Measure(
            *("share_in_use", "Share of the vocabulary in use", "in use", "share"),
            "The part of the vocabulary that occurs in the text",
            "different tokens in the text / vocabulary",
            digits=1,
            note="A longer text uses more of any vocabulary.",
        ),
        Measure(
            *("type_token_ratio", "Type-token ratio", "types/tokens", "ratio"),
            "The number of different tokens of a text relative to all its tokens",
            "different tokens in the text / tokens",
            note="A longer text has a lower ratio. Compare tokenizers on the same text.",
        ),
        Measure(
            *("average_rank", "Average rank of tokens", "average rank", "ratio"),
            "The rank of a token among the tokens of the text, the most frequent first, averaged over the text",
            "Σ rank · p, with p the share of each token among all tokens of the text, and ranks from 1",
            digits=1,
            note=(
                "The measure is that of Limisiewicz and others (2023). Their program counts ranks from 0. A higher "
                "rank means that a larger part of the vocabulary serves the text. Longer texts have a higher rank. "
                "Compare tokenizers on the same sentences."
            ),
        ),
        Measure(
            *("share_of_scaffolds", "Share of scaffolds", "scaffolds", "share"),
            "The part of the vocabulary that no longer occurs, because longer tokens have taken all its occurrences",
            "merged tokens that occurred in the text during training but no longer occur / vocabulary",
            digits=1,
            note="Other texts may still use these tokens.",
        ),
        Measure(
            *("unknown_share", "Share of unknown tokens", "unknown", "share"),
            "The number of unknown tokens relative to all tokens",
            "unknown tokens / tokens",
            digits=2,
            note="A tokenizer of bytes never has unknown tokens, whether it is good or bad.",
        ),
        Measure(
            *("unencoded_share", "Share of the text that is not encoded", "not encoded", "share"),
            "The part of the text, without spaces, that becomes unknown tokens or no tokens",
            "bytes in unknown tokens or in no token / bytes, without spaces",
            digits=2,
            note="Zero means that all of the text can be encoded, not that the text is encoded well.",
        ),
        Measure("ends", "Ends of words", "ends", "places", "The number of ends of words in the text"),
        Measure(
            "inside_ends",
            "Ends of words inside a token",
            "inside",
            "places",
            "The number of ends of words that fall inside a token",
        ),
        Measure(
            *("inside", "Share of the ends of words inside a token", "inside", "share"),
            "The share of the ends of words that fall inside a token, where a prompt should not stop",
            "ends of words inside a token / ends of words",
            digits=2,
            note="A word is a run of letters, a run of digits, or an identifier in code. In a script without spaces, "
            "each character is a word.",
        ),
        Measure(
            *("across", "Share of tokens across the end of a word", "across", "share"),
            "The part of the tokens that continue after the end of a word, as superwords do",
            "tokens with the end of a word inside / tokens",
            digits=2,
            note="The share is nearly zero where words are split at spaces.",
        ),
        Measure(
            *("relative_tokens", "Tokens relative to the first tokenizer", "relative", "ratio"),
            "The number of tokens, divided by the number that the first or chosen tokenizer needs for the same text",
            "tokens / tokens of the chosen tokenizer",
            note="A larger vocabulary needs fewer tokens: compare equal sizes.",
        ),
        Measure(
            *("seconds", "Seconds", "seconds", "seconds"),
            "Processor time of encoding. For a long text, it is estimated from the beginning of the text. The "
            "time of the first text includes the preparation of the tokenizer",
            note="The seconds differ between computers. On a busy computer they also differ between two measurements.",
        ),
        Measure(
            *("bits_per_byte", "Held-out bits per byte", "bits/byte", "bits"),
            "The bits that a small model of token pairs needs for each byte of held-out words",
            BITS_FORMULA,
            digits=4,
            note=BITS_NOTE,
        ),
        # -- the same sentences in several languages -----------------------------------------
        Measure(
            *("premium", "Parity premium", "premium", "ratio"),
            "Tokens of the language relative to those of the reference language, for the same sentences",
            "tokens / tokens of the reference language",
            note="The premium says how many tokens a text needs, not how well a model knows the language.",
        ),
        Measure(
            *("byte_premium", "Byte premium", "byte premium", "ratio"),
            "Bytes of the language relative to those of the reference language, for the same sentences",
            "bytes / bytes of the reference language",
            note="The byte premium comes from UTF-8; compare it with the parity premium, which comes from the tokens.",
        ),
        Measure(
            *("single_token_share", "Single-token retention", "single", "share"),
            "The part of the words, weighted by count, that are one token after a space",
            "words that are one token / words",
            digits=1,
            note=(
                "Words are runs of letters. In a script without spaces, words are whole clauses, and few clauses "
                "are one token."
            ),
        ),
        Measure(
            *("zipf_exponent", "Zipf exponent", "Zipf", "ratio"),
            "How steeply the counts of tokens fall with their rank",
            "minus the slope of the least-squares line through ln count over ln rank",
            note="The exponent depends on the length of the text. Compare tokenizers on the same sentences.",
        ),
        Measure(
            *("zipf_fit", "Zipf fit", "Zipf fit", "ratio"),
            "How well the straight line of the Zipf exponent describes the counts; 1 means exactly",
            "1 − Σ (ln count − line)² / Σ (ln count − mean)²",
            note="In short texts many tokens occur only once, and this lowers the fit.",
        ),
        Measure(
            "sentences", "Sentences", "sentences", "sentences", "The number of sentences of the text in each language"
        ),
        Measure(
            *("tokens_per_sentence", "Tokens per sentence", "tokens/sentence", "ratio"),
            "The average number of tokens of a sentence, for the same sentences in each language",
            "tokens / sentences",
            digits=2,
            note="In a text that is not parallel, each line counts as a sentence. Lines may be longer in one language "
            "than in another.",
        ),
        Measure(
            *("served", "Merges for the language", "served", "steps"),
            "The number of merges so far that were chosen for this language",
        ),
        Measure(
            *("worst", "Worst premium", "worst", "ratio"),
            "The largest premium",
            "tokens of the language that needs most / tokens of the reference language",
            note="A single language decides this value.",
        ),
        Measure(
            *("spread", "Spread", "spread", "ratio"),
            "The most tokens that any language needs, relative to the fewest",
            "tokens of the language that needs most / tokens of the language that needs fewest",
            note="Only two languages decide this value.",
        ),
        Measure(
            *("gini", "Gini coefficient", "Gini", "ratio"),
            (
                "The inequality of tokens among the languages: 0 if all need the same number, near 1 if one language "
                "needs all"
            ),
            "Σ |x − y| / (languages · Σ x), x and y the tokens of two languages, over all pairs of languages",
            note="Each language counts equally, whatever the number of its speakers.",
        ),
        Measure(
            *("jaccard", "Shared tokens", "shared part", "ratio"),
            "Tokens that both texts use, relative to the tokens that at least one of them uses",
            "tokens of both / tokens of either",
            note="Each token counts once, so rare tokens count as much as frequent ones. Longer texts share more.",
        ),
        Measure(
            *("jensen_shannon", "Jensen-Shannon divergence", "divergence", "bits"),
            "The difference between how often two texts use each token, from 0 (equally often) to 1 (no shared token)",
            "½ Σ p log₂ (p / m) + ½ Σ q log₂ (q / m), with m = (p + q) / 2, p and q the shares of a token in each text",
            note="After Limisiewicz and others (2023).",
        ),
        Measure(
            *("consistency", "Words split alike", "split alike", "share"),
            (
                "The part of the words, weighted by count, that are split at the same letters in this place as after a "
                "space"
            ),
            "words with the same splits / words",
            digits=1,
            note="A word that is one token both in this place and after a space counts as split alike.",
        ),
        # -- words with their morphemes ------------------------------------------------------
        Measure("borders", "Borders", "borders", "places", "Places inside words where two morphemes meet"),
        Measure("cuts", "Splits", "splits", "places", "Places inside words where two tokens meet"),
        Measure("hits", "Hits", "hits", "places", "Places with both a split and a border"),
        Measure(
            *("precision", "Splits that are at morphemes", "precision", "ratio"),
            "Precision: the part of the splits that are at a border of morphemes",
            "hits / splits",
            note="A single split gives 1 if it is correct. So look at the recall, too.",
        ),
        Measure(
            *("recall", "Morphemes that are split", "recall", "ratio"),
            "Recall: the part of the borders between morphemes that are split",
            "hits / borders",
            note="A split between all letters gives 1. So look at the precision, too.",
        ),
        Measure(
            *("f1", "Agreement with morphemes (F1)", "F1", "ratio"),
            "The harmonic mean of precision and recall",
            "2 · hits / (splits + borders)",
            note="The borders are taken from the list; another list may have other borders.",
        ),
        Measure(
            *("morph_score", "MorphScore", "MorphScore", "ratio"),
            "The part of the borders between morphemes that are split, in words of more than one token",
            "hits / borders, both only in words of several tokens",
            note="The formula is that of Arnett and Bergen (2024). Their program splits a word without the space "
            "before it.",
        ),
        Measure(
            *("share_whole", "Words that are one token", "whole", "share"),
            "The part of the words that are one token",
            "words of one token / words",
            digits=1,
            note="Long and rare words lower this value, and a list may hold more such words than texts do.",
        ),
        Measure(
            *("share_alike", "Words split exactly at their borders", "alike", "share"),
            "The part of the words that are split at all their borders and nowhere else",
            "words whose splits are their borders / words",
            digits=1,
            note="The borders are taken from the list; another list may have other borders.",
        ),
    )
}
OF_MORPHEMES_IN_SWEEPS = {f"morpheme_{name}": name for name in ("precision", "recall", "f1")}
MEASURES |= {long: replace(MEASURES[name], name=long) for long, name in OF_MORPHEMES_IN_SWEEPS.items()}

# The measures in each kind of table, in the order of its columns.
OF_SIZES = (
    *("bytes_per_token", "tokens_per_pretoken", "renyi_efficiency", "share_in_use", "share_of_scaffolds"),
    *("bits_per_byte", "inside"),
)
OF_BENCHMARK = (
    *("step", "vocabulary", "bytes", "words", "tokens", "bytes_per_token", "tokens_per_word", "renyi_efficiency"),
    *("share_in_use", "type_token_ratio", "average_rank", "unknown_share", "unencoded_share", "relative_tokens"),
    "seconds",
)
OF_MORPHEMES = ("borders", "cuts", "hits", "precision", "recall", "f1", "morph_score", "share_whole", "share_alike")
OF_SWEEPS = (
    *("bytes_per_token", "tokens_per_word", "renyi_efficiency", "share_in_use", "unknown_share", "bits_per_byte"),
    *OF_MORPHEMES_IN_SWEEPS,
)


@dataclass(frozen=True)
class MeasureGroup:
    """A group of measures that answer the same question."""

    title: str
    sentence: str  # why a user would use them
    measures: tuple[str, ...]


GROUPS = (
    MeasureGroup(
        "Length of encoded texts",
        "Fewer tokens for the same text cost less, and more text fits into a model.",
        ("bytes_per_token", "tokens_per_word", "tokens_per_pretoken", "tokens", "relative_tokens", "seconds"),
    ),
    MeasureGroup(
        "Use of the vocabulary",
        "A very rare token is wasted, and a very frequent token carries little information.",
        (
            *("renyi_efficiency", "share_in_use", "share_of_scaffolds", "bits_per_byte", "zipf_exponent", "zipf_fit"),
            *("single_token_share", "type_token_ratio", "average_rank"),
        ),
    ),
    MeasureGroup(
        "Text that is not encoded, and languages that need more tokens",
        "Text that cannot be encoded is lost. A language that needs more tokens for the same sentences costs more.",
        ("unknown_share", "unencoded_share", "premium", "byte_premium"),
    ),
    MeasureGroup(
        "Places of splits in words",
        "Splits at the borders of morphemes keep units of meaning together.",
        (
            *("f1", "precision", "recall", "morph_score", "share_alike", "share_whole", "inside", "words", "borders"),
            *("cuts", "hits"),
        ),
    ),
)


def part_of(some: int, whole: float) -> float:
    """Return the ratio of a part to a whole. Return NaN if the whole is 0.

    >>> part_of(1, 4), part_of(0, 0)
    (0.25, nan)
    """
    return some / whole if whole else float("nan")

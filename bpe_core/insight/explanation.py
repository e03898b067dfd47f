"""Explain why a text is cut at a place, for any method: a sentence, and the tokens in it with their numbers.

A method names its kind of explanation (`Method.why`); without one, the answer names the tokens that meet there.
"""

from __future__ import annotations

from bpe_core.history.history import History
from bpe_core.history.token_texts import TokenTexts
from bpe_core.insight.reasons import Explain, Explanation
from bpe_core.methods.kit.method import Method, has_ranks
from bpe_core.segmenting.cutting import Allowed
from bpe_core.segmenting.segmentation import NO_TOKEN
from bpe_core.segmenting.tokenizer import Tokenizer


def explain(text: str, history: History, allowed: Allowed) -> Explain:
    """Return the answers for one text with these special tokens. Only the method's module is loaded."""
    method = Method.of(history.recipe)
    kind = "dropping" if method.has_ranks and not has_ranks(history) else method.why
    match kind if history.joining is None else "priority":
        case "ranks":
            from bpe_core.insight.why import Why

            return Why(text, history, allowed_special=allowed).explanation_at
        case "blocks":
            from bpe_core.insight.gage import WhyGage

            return WhyGage(text, history, allowed).at_byte
        case "dropping":
            from bpe_core.insight.why_dropping import WhyDropping

            return WhyDropping(text, history, allowed).at_byte
        case "longest":
            from bpe_core.insight.why_longest import WhyLongest

            return WhyLongest(text, history, allowed).at_byte
        case "path":
            from bpe_core.insight.why_path import WhyPath

            return WhyPath(text, history, allowed).at_byte
        case "priority":
            from bpe_core.insight.why_priority import WhyPriority

            return WhyPriority(text, history, allowed).at_byte
    return by_tokens(text, history, allowed)


def by_tokens(text: str, history: History, allowed: Allowed) -> Explain:
    segmentation = Tokenizer(history).segmentation(text, allowed_special=allowed)
    texts, length = TokenTexts.of(history).text, len(text.encode())

    def at_byte(byte: int, at: int) -> Explanation:
        if not 0 < byte < length:
            return Explanation("edge", True, "The text begins or ends here.")
        found = segmentation.tokens_between(byte - 1, byte + 1, at)
        known = [f"“{texts[id]}”" for id in found.ids.tolist() if id != NO_TOKEN]
        if len(found) == 1 and known:
            return Explanation("joined", False, f"The text is not split here: {known[0]} is one token.")
        if len(known) == 2:
            return Explanation("tokens", True, f"The tokens {known[0]} and {known[1]} meet here.")
        return Explanation("dropped", True, "These bytes belong to no word.")

    return at_byte

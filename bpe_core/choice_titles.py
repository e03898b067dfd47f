"""What the choices of a recipe are called where a person reads of them: in forms, reports, and what can be undone."""

from __future__ import annotations

TITLES = {
    "vocab_size": "Vocabulary",
    "merges": "Steps",
    "min_frequency": "At least",
    "ties": "Ties",
    "pattern": "Split by",
    "custom_pattern": "Pattern",
    "base": "Starts from",
    "unit": "Unit",
    "marker": "Marker",
    "marker_text": "Marker text",
    "lowercase": "Lower case",
    "strip_ascii_punctuation": "No ASCII punctuation",
    "strip_marks": "Remove also",
    "unicode_form": "Unicode",
    "older_unicode": "Unicode 16",
    "special_tokens": "Special tokens",
    "max_token_length": "Longest token",
    "alphabet_limit": "Alphabet",
    "unknown": "Unknown as",
    "unknown_text": "Written as",
    "wordpiece_rule": "Chosen by",
    "longest_word": "Longest word",
    "clean_text": "Clean text",
    "strip_accents": "No accents",
    "final_sigma": "Final sigma",
    "seed_size": "Seeds",
    "em_passes": "Passes a round",
    "keep_share": "Kept a round",
    "block_size": "Block",
    "block_bytes": "Bytes in it",
    "interventions": "By hand",
    "grown_from": "Grown from",
    "mixture": "Mixture",
}


def title_of(choice: str) -> str:
    """
    >>> title_of("keep_share"), title_of("a_new_choice")
    ('Kept a round', 'A new choice')
    """
    return TITLES.get(choice) or choice.replace("_", " ").capitalize()

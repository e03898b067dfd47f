"""The base symbols among the entries of a vocabulary, as Hugging Face's files write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bpe_core.alphabet import Symbol, SymbolKind
from bpe_core.formats import byte_level
from bpe_core.recipe import UNKNOWN_TOKEN, Marker
from bpe_core.records import dataclass

NamedSymbol = tuple[str, Symbol]  # how the file writes it, and what it is


@dataclass(frozen=True)
class Style:
    """What a file says about its base symbols, and about words beside merges."""

    byte_level: bool = False
    marker: Marker = "none"
    marker_text: str = ""
    unknown: str = ""  # the text of the token for unknown characters
    byte_fallback: bool = False  # unknown characters become bytes
    blank: str = ""  # the character that stands for a blank in words
    whole_words: bool = False  # a word that is a token is that token
    joins_unknown: bool = False  # neighbours that are unknown are one token
    drops_unknown: bool = False  # what is unknown is no token at all

    def is_symbol(self, text: str) -> bool:
        """Whether it is one character, maybe with the marker glued on."""
        return len(text) == 1 or (self.marker == "glued" and len(text) == 1 + len(self.marker_text)
                                  and text.endswith(self.marker_text))  # fmt: skip


def base_symbols(plain: Sequence[str], vocabulary: Mapping[str, int] | None, style: Style) -> list[NamedSymbol]:
    """Those of a vocabulary whose entries `plain` no merge makes."""
    if not style.byte_level:
        return _characters(plain, style)
    known = {text for text in plain if style.is_symbol(text)} if vocabulary is not None else set()
    symbols = _bytes(known, vocabulary or {}, "")
    if style.marker == "glued":
        symbols += _bytes(known, vocabulary or {}, style.marker_text)
    return symbols


def raw_texts(text: str, style: Style) -> tuple[bytes, bytes] | None:
    """The bytes of a token as it is written, and as it reads; None for what byte-level texts cannot spell."""
    raw = byte_level.read(text) if style.byte_level else text.encode()
    if not raw:
        return None
    marker = style.marker_text.encode()
    if style.marker == "glued" and raw.endswith(marker) and raw != marker:
        return raw, raw.removesuffix(marker) + b" "
    blank = (style.blank or (style.marker_text if style.marker == "prefix" else "")).encode()
    return raw, raw.replace(blank, b" ") if blank else raw


def _bytes(known: set[str], vocabulary: Mapping[str, int], marker: str) -> list[NamedSymbol]:
    """The 256 bytes as the file numbers them; those it has no number for come last."""
    named = [(text + marker, byte) for byte in byte_level.stand_in_order() for text in [byte_level.stand_ins()[byte]]]
    if vocabulary:
        named.sort(key=lambda one: (one[0] not in known, vocabulary.get(one[0], 0)))
    kind: SymbolKind = "glued" if marker else "byte"
    end, blank = marker.encode(), b" " if marker else b""
    return [(text, Symbol(bytes([byte]) + end, bytes([byte]) + blank, kind)) for text, byte in named]


def _characters(plain: Sequence[str], style: Style) -> list[NamedSymbol]:
    """What stands for the unknown, the characters, and last the marker or the characters it is glued to."""
    marker = style.marker_text
    is_alone = style.marker in ("prefix", "symbol")  # the marker is a symbol of its own
    single = [text for text in plain if len(text) == 1 and not (is_alone and text == marker)]
    glued = [text for text in plain if style.is_symbol(text) and text.endswith(marker) and len(text) > 1]
    known = set(single)
    single += [text[0] for text in glued if text[0] not in known]
    symbols = _unknown(style)
    symbols += [(text, _symbol(text, " " if text == style.blank else text, "character")) for text in single]
    symbols += [(text, _symbol(text, text[0] + " ", "glued")) for text in glued]
    return [*symbols, (marker, _symbol(marker, " ", "marker"))] if is_alone else symbols


def _symbol(text: str, decoded: str, kind: SymbolKind) -> Symbol:
    return Symbol(text.encode(), decoded.encode(), kind)


def _unknown(style: Style) -> list[NamedSymbol]:
    if style.byte_fallback:
        return [(f"<0x{i:02X}>", Symbol(f"<0x{i:02X}>".encode(), bytes([i]), "fallback")) for i in range(256)]
    text = style.unknown or UNKNOWN_TOKEN
    return [("" if style.drops_unknown else text, _symbol(text, text, "unknown"))]  # "": the file has no such entry

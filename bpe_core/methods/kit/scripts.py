"""The script of each character, such as Latin or Cyrillic, as a number."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bpe_core.kernels import TRANSPARENT

COMMON = 0
_NAMES = str.split("""
Latin Cyrillic Greek Arabic Hebrew Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada Malayalam
Sinhala Thai Lao Tibetan Myanmar Georgian Armenian Ethiopic Khmer Mongolian Hangul Bopomofo Yi Cherokee
Canadian_Aboriginal Syriac Thaana Nko Tifinagh Coptic Gothic Runic Ogham Glagolitic Vai Bamum Cham Limbu Tai_Le
New_Tai_Lue Tai_Tham Tai_Viet Balinese Javanese Sundanese Batak Buginese Lepcha Ol_Chiki Meetei_Mayek
Saurashtra Kayah_Li Rejang Lisu Tagalog Hanunoo Buhid Tagbanwa Syloti_Nagri Phags_Pa Samaritan Mandaic Adlam
Osage Osmanya Deseret Shavian Braille SignWriting Newa Tirhuta Grantha Modi Siddham Sharada Khojki Khudawadi
Takri Kaithi Chakma Ahom Bhaiksuki Brahmi Kharoshthi Marchen Mahajani Multani Sora_Sompeng Warang_Citi Mro
Pahawh_Hmong Miao Pau_Cin_Hau Bassa_Vah Mende_Kikakui Duployan Tangut Cuneiform Egyptian_Hieroglyphs
Anatolian_Hieroglyphs Meroitic_Hieroglyphs Meroitic_Cursive Linear_A Linear_B Cypriot Ugaritic Old_Persian
Old_Italic Old_Turkic Old_Hungarian Old_Permic Old_North_Arabian Old_South_Arabian Phoenician Lydian Lycian
Carian Imperial_Aramaic Palmyrene Nabataean Hatran Manichaean Avestan Psalter_Pahlavi Inscriptional_Parthian
Inscriptional_Pahlavi Elbasan Caucasian_Albanian
""")
_JAPANESE_AND_CHINESE = r"[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]"
_CLASSES = [
    (_JAPANESE_AND_CHINESE, len(_NAMES) + 1),
    (r"\p{Script=Common}", COMMON),
    (r"\p{Script=Inherited}", TRANSPARENT),
    *((rf"\p{{Script={name}}}", number) for number, name in enumerate(_NAMES, 1)),
]


def scripts_of(characters: str) -> npt.NDArray[np.int32]:
    """Return the script of each character as a number.

    The number is TRANSPARENT if the character has the script of the letter before it.
    """
    import regex  # takes a while to load

    unknown = dict.fromkeys(characters)
    script_of = dict[str, int]()
    for expression, number in _CLASSES:
        if not unknown:
            break
        for letter in regex.findall(expression, "".join(unknown)):
            script_of[letter] = number
            del unknown[letter]
    return np.array([script_of.get(character, COMMON) for character in characters], np.int32)

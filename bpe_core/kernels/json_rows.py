"""A compiled reader of JSON lines. It copies the texts of one field, and stops before each row it cannot read.

Python reads the rows at which this reader stops. So Python alone decides which rows are wrong, and reports them.
The reader also stops before a row that is not valid UTF-8. Only quoted texts in a row may have characters outside
ASCII.
"""

from __future__ import annotations

import numpy as np

from bpe_core.kernels.jit import inlined, kernel
from bpe_core.kernels.memory import copy_thirty_two, load_eight, store_eight, trailing_zeros
from bpe_core.kernels.utf8 import ALL_ASCII, SOUND, state_after
from bpe_core.text.reading.text_tables import use_compiled_rows

LONGEST_ROW = 1 << 22  # bytes; Python checks how many values a longer row holds
DEEPEST = 60  # the most lists and objects around a value; each has a bit in a number
MOST_DIGITS = 4_000  # the most digits of a whole number; Python's own limit is higher
FAILED = 1 << 62  # in place of an offset

_ONES = 0x0101010101010101
_TOP_BITS = 0x8080808080808080
_EIGHT_SPACES = 0x2020202020202020
_EIGHT_QUOTES = 0x2222222222222222
_EIGHT_BACKSLASHES = 0x5C5C5C5C5C5C5C5C
_QUOTE, _BACKSLASH, _COMMA, _COLON, _MINUS, _PLUS, _DOT, _LINE_END = b'"\\,:-+.\n'
_BEGIN_LIST, _END_LIST, _BEGIN_OBJECT, _END_OBJECT = b"[]{}"
_0, _9, _A, _E, _F, _N, _T, _U = b"09aefntu"
_CASE = 32  # the bit that makes a letter lower-case
_HIGH_SURROGATES, _LOW_SURROGATES, _AFTER_SURROGATES = 0xD800, 0xDC00, 0xE000

# What may come next in a row.
_KEY, _VALUE, _FIRST, _COMMA_OR_END = range(4)  # a row or value may end in the last two


def _escaped() -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    """Return a table of JSON's short escape sequences, such as `\\n`.

    The index is the byte after the backslash. The value is the character that the sequence represents, or 0 if JSON has
    no such sequence.
    """
    characters = np.zeros(256, np.uint8)
    for letter, character in zip(b'"\\/bfnrt', b'"\\/\b\f\n\r\t', strict=True):
        characters[letter] = character
    return characters


_ESCAPED = _escaped()
_TRUE, _FALSE, _NULL = (np.frombuffer(bytearray(word), np.uint8) for word in (b"true", b"false", b"null"))


@kernel
def take_texts(data, start, name, size, out, ends):
    """Copy the texts of a field to `out`, beginning with the line at the offset `start`. Write the end of each text to
    `ends`.

    Stop before a row that this reader cannot read, and before the texts have more than `size` bytes. An empty text is
    left out. Return the offset of the first line that was not read, the number of lines that were read, and the number
    of texts.
    """
    place, stop, room = np.uint64(start), np.uint64(len(data)), np.uint64(size)
    written = np.uint64(0)
    lines = texts = np.int64(0)
    while place < stop:
        after, end = _take_row(data, place, name, out, written)
        if after == np.uint64(FAILED) or end > room or after - place > np.uint64(LONGEST_ROW):
            break
        if end > written:
            ends[texts] = end
            texts += 1
        written = end
        place = after
        lines += 1
    return np.int64(place), lines, texts


@kernel
def _take_row(data, place, name, out, written):
    """Copy the text of a row. Return two values: the offset of the next line, and the end of the copy.

    The first value is FAILED if this reader cannot read the row.
    """
    failed, one, stop = np.uint64(FAILED), np.uint64(1), np.uint64(len(data))
    i = _after_spaces(data, place)
    if i == stop:
        return stop, written
    if data[i] == _LINE_END:
        return i + one, written
    if data[i] != _BEGIN_OBJECT:
        return failed, written
    i += one
    objects = depth = one  # a bit of `objects` is 1 if an object has this depth, and 0 if a list has it
    end = written
    is_wanted = was_taken = False
    expected = _FIRST
    while depth:
        i = _after_spaces(data, i)
        if i == stop:
            return failed, written
        byte = data[i]
        in_object = objects & one == one
        begins_object = byte == _BEGIN_OBJECT
        if expected == _COMMA_OR_END and byte == _COMMA:
            expected = _KEY if in_object else _VALUE
            i += one
        elif expected >= _FIRST and byte == (_END_OBJECT if in_object else _END_LIST):
            objects >>= one
            depth -= one
            expected = _COMMA_OR_END
            i += one
        elif expected == _COMMA_OR_END:
            return failed, written
        elif in_object and expected != _VALUE:
            if byte != _QUOTE:
                return failed, written
            i, key_end = _copy_text(data, i + one, out, end)
            if i == failed:
                return failed, written
            is_wanted = depth == one and _is_same(out, end, key_end, name)
            i = _after_spaces(data, i)
            if i == stop or data[i] != _COLON:
                return failed, written
            i += one
            expected = _VALUE
        elif byte == _QUOTE:
            i, text_end = _copy_text(data, i + one, out, end)
            if i == failed or (is_wanted and was_taken):
                return failed, written
            if is_wanted:
                end = text_end
                was_taken = True
            is_wanted = False
            expected = _COMMA_OR_END
        elif is_wanted:
            return failed, written
        elif begins_object or byte == _BEGIN_LIST:
            if depth == np.uint64(DEEPEST):
                return failed, written
            objects = objects << one | np.uint64(begins_object)
            depth += one
            expected = _FIRST
            i += one
        else:
            i = _after_plain_value(data, i)
            if i == failed:
                return failed, written
            expected = _COMMA_OR_END
    i = _after_spaces(data, i)
    if not was_taken or (i < stop and data[i] != _LINE_END):
        return failed, written
    return min(i + one, stop), end


@inlined
def _after_spaces(data, place):
    """Return the offset after spaces, tabs and carriage returns."""
    i, stop = place, np.uint64(len(data))
    while i < stop and (data[i] == 32 or data[i] == 9 or data[i] == 13):
        i += np.uint64(1)
    return i


@inlined
def _is_same(out, begin, end, name):
    """Return whether the text in `out` from `begin` to `end` is the name of the field."""
    k, length = np.uint64(0), np.uint64(len(name))
    is_same = end - begin == length
    while is_same and k < length:
        is_same = out[begin + k] == name[k]
        k += np.uint64(1)
    return is_same


@kernel
def _copy_text(data, place, out, begin):
    """Copy a text in quotes to `out`, from the offset `begin` on. `place` is the offset after the opening quote.

    Return two values: the offset after the closing quote, and the end of the copy. The first value is FAILED if this
    reader cannot read the text, or if it is not valid UTF-8. Some bytes after the end of the copy may be overwritten.
    """
    one, thirty_two = np.uint64(1), np.uint64(32)
    i, end, stop = place, begin, np.uint64(len(data))
    while i < stop:
        while i + thirty_two <= stop:
            found = copy_thirty_two(data, i, out, end)
            if found:
                plain = min(trailing_zeros(found), trailing_zeros(found >> thirty_two))  # bytes before another one
                i += plain
                end += plain
                break
            i += thirty_two  # separate from the above: the processor guesses this branch, and need not wait for `plain`
            end += thirty_two
        if i >= stop:
            break
        byte = data[i]
        if byte == _QUOTE:
            return i + one, end
        if byte >= 128:
            i, end = _copy_other_characters(data, i, out, end)
            if i == np.uint64(FAILED):
                break
        elif byte == _BACKSLASH:
            character = _ESCAPED[data[i + one]] if i + one < stop else np.uint8(0)
            if character:
                out[end] = character
                i += np.uint64(2)
                end += one
                continue
            i, code = _escape_at(data, i)
            if i == np.uint64(FAILED):
                break
            end = _write_character(code, out, end)
        elif byte < 32:
            break
        else:
            out[end] = byte
            i += one
            end += one
    return np.uint64(FAILED), begin


@kernel
def _copy_other_characters(data, place, out, begin):
    """Copy text that is not ASCII, and check that it is valid UTF-8.

    Stop after eight ASCII bytes, or before an unusual byte.

    Return two values: the offset after the text that was copied, and the end of the copy. The first value is
    FAILED if the text is not valid UTF-8.
    """
    eight, stop, sound = np.uint64(8), np.uint64(len(data)), np.uint64(SOUND)
    i, end, state = place, begin, sound
    while i + eight <= stop:
        bytes_of_text = load_eight(data, i)
        store_eight(out, end, bytes_of_text)
        unusual = _unusual_bytes(bytes_of_text)
        if unusual:
            usual = trailing_zeros(unusual) >> np.uint64(3)
            state = state_after(bytes_of_text, np.int64(usual), state)
            return (i + usual if state == sound else np.uint64(FAILED)), end + usual
        state = state_after(bytes_of_text, 8, state)
        i += eight
        end += eight
        if state == sound and bytes_of_text & np.uint64(ALL_ASCII) == np.uint64(0):
            return i, end
    while i < stop and (state != sound or data[i] >= 128):
        state = state_after(np.uint64(data[i]), 1, state)
        out[end] = data[i]
        i += np.uint64(1)
        end += np.uint64(1)
    return (i if state == sound else np.uint64(FAILED)), end


@inlined
def _unusual_bytes(eight):
    """Find quotes, backslashes and control characters among eight bytes of a text.

    Return 0 if there are none. Otherwise the lowest bit that is set in the result is in the first such byte.
    """
    quotes = eight ^ np.uint64(_EIGHT_QUOTES)
    backslashes = eight ^ np.uint64(_EIGHT_BACKSLASHES)
    unusual = (quotes - np.uint64(_ONES)) & ~quotes | (backslashes - np.uint64(_ONES)) & ~backslashes
    return (unusual | (eight - np.uint64(_EIGHT_SPACES)) & ~eight) & np.uint64(_TOP_BITS)


@kernel
def _escape_at(data, place):
    """Return two values: the offset after an escape sequence, and the code point that the sequence represents.

    The first value is FAILED if the sequence is not valid.
    """
    stop, failed = np.uint64(len(data)), np.uint64(FAILED)
    if place + np.uint64(2) > stop:
        return failed, np.int64(0)
    letter = data[place + np.uint64(1)]
    if letter != _U:
        character = np.int64(_ESCAPED[letter])
        return (place + np.uint64(2) if character else failed), character
    code = _four_digits(data, place)
    i = place + np.uint64(6)
    if _HIGH_SURROGATES <= code < _LOW_SURROGATES:
        low = _four_digits(data, i)
        if not _LOW_SURROGATES <= low < _AFTER_SURROGATES:
            return failed, code
        code = ((code - _HIGH_SURROGATES) << 10) + (low - _LOW_SURROGATES) + 0x10000
        i += np.uint64(6)
    elif code < 0 or _LOW_SURROGATES <= code < _AFTER_SURROGATES:
        return failed, code
    return i, code


@kernel
def _four_digits(data, place):
    r"""Return the number that `\u` and four hexadecimal digits represent. Return -1 if the text at the offset is
    something else."""
    if place + np.uint64(6) > np.uint64(len(data)):
        return np.int64(-1)
    if data[place] != _BACKSLASH or data[place + np.uint64(1)] != _U:
        return np.int64(-1)
    code = np.int64(0)
    for k in range(2, 6):
        byte = np.int64(data[place + np.uint64(k)])
        lower = byte | _CASE
        if _0 <= byte <= _9:
            digit = byte - _0
        elif _A <= lower <= _F:
            digit = lower - _A + 10
        else:
            return np.int64(-1)
        code = code << 4 | digit
    return code


@inlined
def _write_character(code, out, end):
    """Write a code point as UTF-8. Return the end of its bytes."""
    if code < 0x80:
        out[end] = code
        return end + np.uint64(1)
    if code < 0x800:
        out[end] = 0xC0 | code >> 6
        out[end + np.uint64(1)] = 0x80 | code & 63
        return end + np.uint64(2)
    if code < 0x10000:
        out[end] = 0xE0 | code >> 12
        out[end + np.uint64(1)] = 0x80 | code >> 6 & 63
        out[end + np.uint64(2)] = 0x80 | code & 63
        return end + np.uint64(3)
    out[end] = 0xF0 | code >> 18
    out[end + np.uint64(1)] = 0x80 | code >> 12 & 63
    out[end + np.uint64(2)] = 0x80 | code >> 6 & 63
    out[end + np.uint64(3)] = 0x80 | code & 63
    return end + np.uint64(4)


@kernel
def _after_plain_value(data, place):
    """Return the offset after a number, `true`, `false` or `null`. Return FAILED if there is no such value."""
    one, stop, failed = np.uint64(1), np.uint64(len(data)), np.uint64(FAILED)
    i = place
    first = data[i]
    if first == _T:
        return _after_word(data, i, _TRUE)
    if first == _F:
        return _after_word(data, i, _FALSE)
    if first == _N:
        return _after_word(data, i, _NULL)
    if first == _MINUS:
        i += one
    digits = _after_digits(data, i)
    if digits == i or digits - i > np.uint64(MOST_DIGITS) or (data[i] == _0 and digits > i + one):
        return failed
    i = digits
    if i < stop and data[i] == _DOT:
        digits = _after_digits(data, i + one)
        if digits == i + one:
            return failed
        i = digits
    if i < stop and data[i] | _CASE == _E:
        i += one
        if i < stop and (data[i] == _PLUS or data[i] == _MINUS):
            i += one
        digits = _after_digits(data, i)
        if digits == i:
            return failed
        i = digits
    return i


@inlined
def _after_digits(data, place):
    i, stop = place, np.uint64(len(data))
    while i < stop and data[i] >= _0 and data[i] <= _9:
        i += np.uint64(1)
    return i


@kernel
def _after_word(data, place, word):
    length = np.uint64(len(word))
    if place + length > np.uint64(len(data)):
        return np.uint64(FAILED)
    for k in range(len(word)):
        if data[place + np.uint64(k)] != word[k]:
            return np.uint64(FAILED)
    return place + length


use_compiled_rows(take_texts)  # reading uses it from now on

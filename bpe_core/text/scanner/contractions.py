"""English contractions, character by character: 's 'd 'm 't, 'll, 've 're."""

from __future__ import annotations

from bpe_core.text.scanner.kinds import Kind

BEGUN = "'"
NEEDS_L = "'l"
NEEDS_E = "'v"  # or 'r
NEEDS_L_CAPITAL = "'L"  # the same where a capital was read
NEEDS_E_CAPITAL = "'V"
COMPLETE = "contraction"

# From how much of a contraction was read, and the kind of the next character, to how much is read then.
IN_LOWER_CASE = {
    (BEGUN, Kind.SDMT): COMPLETE,
    (BEGUN, Kind.L): NEEDS_L,
    (BEGUN, Kind.V): NEEDS_E,
    (BEGUN, Kind.R): NEEDS_E,
    (NEEDS_L, Kind.L): COMPLETE,
    (NEEDS_E, Kind.E): COMPLETE,
}

IN_ANY_CASE = {
    **IN_LOWER_CASE,
    (BEGUN, Kind.UPPER_SDMT): COMPLETE,
    (BEGUN, Kind.LONG_S): COMPLETE,
    (BEGUN, Kind.UPPER_L): NEEDS_L_CAPITAL,
    (BEGUN, Kind.UPPER_V): NEEDS_E_CAPITAL,
    (BEGUN, Kind.UPPER_R): NEEDS_E_CAPITAL,
    (NEEDS_L, Kind.UPPER_L): COMPLETE,
    (NEEDS_L_CAPITAL, Kind.L): COMPLETE,
    (NEEDS_L_CAPITAL, Kind.UPPER_L): COMPLETE,
    (NEEDS_E, Kind.UPPER_E): COMPLETE,
    (NEEDS_E_CAPITAL, Kind.E): COMPLETE,
    (NEEDS_E_CAPITAL, Kind.UPPER_E): COMPLETE,
}

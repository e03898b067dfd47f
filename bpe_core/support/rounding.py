"""The rounding of a value by its uncertainty: digits that chance decides are not written."""

from __future__ import annotations

import math

SIGNIFICANT = 2  # digits of the uncertainty


def with_interval(value: float, low: float, high: float) -> str:
    """Return a value with the ends of its interval, all rounded by the half width of the interval.

    The half width keeps two significant digits. A value whose interval has no width keeps four digits.

    >>> with_interval(1.52345, 1.50123, 1.54567), with_interval(1234.5, 1100.2, 1400.8), with_interval(1.0, 1.0, 1.0)
    ('1.523 (1.501 to 1.546)', '1,234 (1,100 to 1,401)', '1')
    """
    half = (high - low) / 2
    if half <= 0:
        return f"{value:.4g}"
    digits = max(0, SIGNIFICANT - 1 - math.floor(math.log10(half)))
    return f"{value:,.{digits}f} ({low:,.{digits}f} to {high:,.{digits}f})"

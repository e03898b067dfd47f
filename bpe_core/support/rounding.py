"""The rounding of a value according to its uncertainty, so that no meaningless digits are written."""

from __future__ import annotations

import math

SIGNIFICANT = 2  # digits of the uncertainty


def with_interval(value: float, low: float, high: float) -> str:
    """Return a value and the two ends of its interval as text, with equally many decimals.

    The number of decimals is chosen so that half the width of the interval would have two significant digits. If
    the interval has no width, return only the value, with at most four significant digits.

    >>> with_interval(1.52345, 1.50123, 1.54567), with_interval(1234.5, 1100.2, 1400.8), with_interval(1.0, 1.0, 1.0)
    ('1.523 (1.501 to 1.546)', '1,234 (1,100 to 1,401)', '1')
    """
    half = (high - low) / 2
    if half <= 0:
        return f"{value:.4g}"
    digits = _digits(half)
    return f"{value:,.{digits}f} ({low:,.{digits}f} to {high:,.{digits}f})"


def with_deviation(mean: float, deviation: float) -> str:
    """Return a mean and its standard deviation as text, with the same number of digits after the point.

    This number is chosen so that the deviation has two significant digits. If the deviation is 0, the mean has
    four significant digits.

    >>> with_deviation(1.52345, 0.0223), with_deviation(1234.5, 150.2), with_deviation(1.0, 0.0)
    ('1.523 ± 0.022', '1,234 ± 150', '1 ± 0')
    """
    if deviation <= 0:
        return f"{mean:.4g} ± 0"
    digits = _digits(deviation)
    return f"{mean:,.{digits}f} ± {deviation:,.{digits}f}"


def _digits(uncertainty: float) -> int:
    """Return the number of decimal places with which the uncertainty keeps two significant digits."""
    return max(0, SIGNIFICANT - 1 - math.floor(math.log10(uncertainty)))

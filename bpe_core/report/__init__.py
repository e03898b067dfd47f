"""A report of a run: one HTML page that needs nothing else.

write_report(report_of(read_session("harbour.bpex")), "report.html")
"""

from __future__ import annotations

from bpe_core.report.page import page_of, write_report
from bpe_core.report.report import Report, report_of

__all__ = ["Report", "page_of", "report_of", "write_report"]

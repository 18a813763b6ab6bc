"""Reports: what a finished or partial run says, in one module a format. They read results and never judge."""

from evenhand.report.formats import PLAIN_PAGE, REPORTS, Cases, Page, Render, Report

__all__ = ["PLAIN_PAGE", "REPORTS", "Cases", "Page", "Render", "Report"]

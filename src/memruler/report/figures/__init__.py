"""Figures of a report: each file draws one, from records that were scored before."""

"""The values of a report: everything that is told, and nothing about how it looks.

They are the source of ``schema.json`` too, so that ``report.json`` is exactly a dump of them.
Changes and intervals are fractions of the figure itself (-0.12: the figure is 12 % lower); a number
that is not known is None, never NaN.
"""

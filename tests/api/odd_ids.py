"""Ids that an address has to carry."""

ODD_IDS = ("a/b c?d=e#f&g", "ends.bib", "ends.bib.ris", "näme%2F+x", "line\nbreak", "…", "x" * 300)

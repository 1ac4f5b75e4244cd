"""Tables of solved game endings: backgammon bearoffs and chess endings.

>>> from endtable import Tables
>>> tables = Tables(["bearoff-6.etb"])          # doctest: +SKIP
>>> tables.evaluate("6:1 / 6:1").win            # doctest: +SKIP
0.8125019072...

``Table`` reads the records of one table into NumPy arrays, ``Tables`` turns
positions into winning chances, ``make_bearoff`` and ``make_two_sided`` make
tables, ``transcode`` writes them in another form. What goes wrong is an
``EndtableError``.
"""

from ._endtable import (
    CorruptError,
    EndtableError,
    Evaluation,
    InvalidError,
    LimitError,
    NotCoveredError,
    Play,
    ReadError,
    Table,
    Tables,
    UnsupportedError,
    __version__,
    make_bearoff,
    make_two_sided,
    transcode,
)

__all__ = [
    "CorruptError",
    "EndtableError",
    "Evaluation",
    "InvalidError",
    "LimitError",
    "NotCoveredError",
    "Play",
    "ReadError",
    "Table",
    "Tables",
    "UnsupportedError",
    "__version__",
    "evaluate",
    "make_bearoff",
    "make_two_sided",
    "transcode",
]

_tables = None


def evaluate(position):
    """Evaluate a position with the tables in ``ENDTABLE_PATH`` and the user's
    data folder, which are opened once; see ``Tables.evaluate``."""
    global _tables
    if _tables is None:
        _tables = Tables()
    return _tables.evaluate(position)

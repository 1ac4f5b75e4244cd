from ._endtable import (
    CorruptError as CorruptError,
    EndtableError as EndtableError,
    Evaluation as Evaluation,
    InvalidError as InvalidError,
    LimitError as LimitError,
    NotCoveredError as NotCoveredError,
    Play as Play,
    ReadError as ReadError,
    Table as Table,
    Tables as Tables,
    UnsupportedError as UnsupportedError,
    __version__ as __version__,
    _Position,
    make_bearoff as make_bearoff,
    make_two_sided as make_two_sided,
    transcode as transcode,
)

def evaluate(position: _Position) -> Evaluation: ...

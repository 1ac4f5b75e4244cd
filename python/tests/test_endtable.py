"""The package against values that are known from elsewhere: exact means of
bearoffs, and the chances of one chequer each."""

import threading

import numpy as np
import pytest

import endtable


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


@pytest.fixture(scope="session")
def one_sided(folder):
    path = folder / "one-sided.etb"
    assert endtable.make_bearoff(6, path) == path.stat().st_size
    return path


@pytest.fixture(scope="session")
def two_sided(folder):
    path = folder / "two-sided.etb"
    endtable.make_two_sided(6, 2, path)
    return path


def test_a_table_says_what_it_is(one_sided):
    table = endtable.Table.open(one_sided)
    assert len(table) == 54264  # C(21, 6)
    assert table.content == "bearoff one-sided"
    assert table.numbering == "multiset"
    assert table.width == 64 and table.fields["gammon"] == slice(32, 64, 1)
    assert table.codecs == {"win": "packed", "gammon": "packed"}
    assert table.file_bytes == one_sided.stat().st_size
    assert str(one_sided) in repr(table)


@pytest.mark.parametrize("mapped", [True, False])
def test_known_means(one_sided, mapped):
    table = endtable.Table.open(one_sided, mapped=mapped)
    for side, mean in [
        ([0, 0, 0, 0, 0, 1], 1.25),
        ([7], 3.5509259259),
        ([2, 2, 2, 3, 3, 3], 8.1389232026),
        ([0, 0, 0, 0, 0, 15], 12.2661871718),
    ]:
        win = table.get(table.number(side))[table.fields["win"]]
        assert win.dtype == np.uint32 and win.sum() == 65535
        assert abs((win * np.arange(32)).sum() / 65535 - mean) < 2e-4


def test_many_are_the_same_as_one_by_one(one_sided):
    table = endtable.Table.open(one_sided)
    numbers = np.random.default_rng(1).integers(0, len(table), 500, dtype=np.uint64)
    many = table.get_many(numbers)
    assert many.shape == (500, 64) and many.flags.c_contiguous
    for number, record in zip(numbers, many):
        assert (table[int(number)] == record).all()
    assert table.get_many(np.empty(0, dtype=np.uint64)).shape == (0, 64)
    assert (table[-1] == table[len(table) - 1]).all()


def test_iteration_covers_everything(one_sided):
    table = endtable.Table.open(one_sided)
    seen = 0
    for first, records in table.chunks(10_000):
        assert first == seen
        assert (records[:, :32].sum(axis=1) == 65535).all()
        seen += len(records)
    assert seen == len(table)
    assert sum(len(records) for _, records in table) == len(table)


def test_evaluations(one_sided, two_sided):
    race = endtable.Tables([one_sided])
    both = endtable.Tables([one_sided, two_sided])
    for tables in (race, both):
        seen = tables.evaluate("6:1 / 6:1")
        assert abs(seen.win - 0.8125) <= 1 / 65535
        assert seen.epc[0] == pytest.approx(1.25 * 49 / 6, abs=1e-3)
        assert seen.win == tables.evaluate(([0] * 5 + [1], [0] * 5 + [1])).win
    assert not race.evaluate("6:1 / 6:1").exact
    assert race.evaluate("6:1 / 6:1").equity_centred is None
    exact = both.evaluate("6:1 / 6:1")
    assert exact.exact and exact.cube_action == "double_pass"
    assert "exact=True" in repr(exact)


def test_many_evaluations(one_sided):
    tables = endtable.Tables([one_sided])
    boards = np.zeros((3, 2, 25), dtype=np.uint8)
    boards[0, :, 5] = 1
    boards[1, 0, 0], boards[1, 1, 0] = 4, 2
    boards[2, :, 7] = 1
    seen = tables.evaluate_many(boards)
    assert seen["win"][0] == pytest.approx(0.8125, abs=1 / 65535)
    assert seen["win"][1] == pytest.approx(1 / 6, abs=1 / 65535)
    assert np.isnan(seen["win"][2])
    assert seen["win"].dtype == np.float64
    with pytest.raises(endtable.InvalidError, match="shape"):
        tables.evaluate_many(boards[:, :1])


def test_plays(one_sided, two_sided):
    tables = endtable.Tables([one_sided, two_sided])
    plays = tables.plays("2:1 1:1 / 6:1", (2, 1))
    assert plays[0].play == "2/off 1/off" and plays[0].equity == 1.0
    assert [p.equity for p in plays] == sorted((p.equity for p in plays), reverse=True)
    with pytest.raises(endtable.InvalidError, match="cube"):
        tables.plays("2:1 / 6:1", (2, 1), cube="mine")
    with pytest.raises(endtable.InvalidError, match="1 to 6"):
        tables.plays("2:1 / 6:1", (7, 1))


def test_faults_are_exceptions_of_its_own(one_sided, tmp_path):
    tables = endtable.Tables([one_sided])
    table = endtable.Table.open(one_sided)
    with pytest.raises(endtable.ReadError, match="no-such"):
        endtable.Table.open(tmp_path / "no-such")
    broken = tmp_path / "broken.etb"
    broken.write_bytes(one_sided.read_bytes()[:-1])
    with pytest.raises(endtable.CorruptError, match="broken"):
        endtable.Table.open(broken)
    with pytest.raises(endtable.NotCoveredError, match="make bearoff 7"):
        tables.evaluate("7:1 / 6:1")
    with pytest.raises(endtable.NotCoveredError, match="meet"):
        tables.evaluate("start")
    with pytest.raises(endtable.InvalidError):
        tables.evaluate("nonsense")
    with pytest.raises(endtable.InvalidError):
        table.get(len(table))
    with pytest.raises(IndexError):
        table[len(table)]
    with pytest.raises(endtable.NotCoveredError):
        table.number([0] * 6 + [1])
    with pytest.raises(endtable.InvalidError):
        table.number([16])
    with pytest.raises(endtable.InvalidError, match="exists"):
        endtable.make_bearoff(2, one_sided)
    assert issubclass(endtable.NotCoveredError, endtable.EndtableError)


def test_transcoding_is_lossless_and_tells_its_progress(one_sided, tmp_path):
    told = []
    bd = tmp_path / "again.bd"
    endtable.transcode(one_sided, bd, progress=lambda done, total: told.append((done, total)))
    assert told and told[-1][1] == 54264 and told == sorted(told)
    again = tmp_path / "again.etb"
    endtable.transcode(bd, again, codec="zstd", level=3)
    table = endtable.Table.open(again)
    assert table.codecs["win"] == "zstd"
    assert table.content_crc32 == endtable.Table.open(one_sided).content_crc32


def test_what_a_callback_raises_stops_the_work(tmp_path):
    def stop(done, total):
        raise RuntimeError("enough")

    path = tmp_path / "stopped.etb"
    with pytest.raises(RuntimeError, match="enough"):
        endtable.make_bearoff(6, path, progress=stop)
    assert not path.exists()
    with pytest.raises(RuntimeError, match="enough"):
        endtable.make_two_sided(4, 4, path, progress=stop)
    assert list(tmp_path.iterdir()) == []


def test_threads_share_a_table(one_sided):
    table = endtable.Table.open(one_sided, mapped=False, cache_bytes=100_000)
    numbers = np.random.default_rng(2).integers(0, len(table), 20_000, dtype=np.uint64)
    expected = table.get_many(numbers)
    found = [None] * 4

    def run(i):
        found[i] = table.get_many(numbers)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((f == expected).all() for f in found)


def test_tables_are_found_without_a_path(one_sided, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("ENDTABLE_PATH", raising=False)
    assert len(endtable.Tables()) == 0
    monkeypatch.setenv("ENDTABLE_PATH", str(one_sided))
    assert [str(p) for p in endtable.Tables().paths] == [str(one_sided)]
    assert endtable.evaluate("1:1 / 1:1").win == 1.0

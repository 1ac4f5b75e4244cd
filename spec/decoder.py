#!/usr/bin/env python3
"""A plain reader of endtable tables, written from FORMAT.md, small.md and kings.md.

It is made to be read beside the specification and to check other readers, not
to be fast. It needs Python 3.9 and nothing else, except `lz4` and `zstandard`
(from PyPI) for the codecs of those names.

    decoder.py FILE info      what the table says of itself
    decoder.py FILE check     every rule of FORMAT.md, and the content's checksum
    decoder.py FILE dump      every record, one line each: number and values
    decoder.py FILE raw       the content in canonical form, as bytes
    decoder.py FILE get N     the record of number N

Exit codes: 0 done, 1 the file is bad, 2 the call is wrong, 3 the file needs a
codec, numbering or version that is not known here. Bad files give one line with
the rule that they break.
"""

import os
import struct
import sys
import zlib
from math import comb


class Corrupt(Exception):
    """The file breaks a rule of FORMAT.md."""

    def __init__(self, rule, message):
        super().__init__(f"corrupt: {message} [rule {rule}]")
        self.rule = rule


class Unsupported(Exception):
    """The file may be good, but needs what is not known here."""

    def __init__(self, message):
        super().__init__(f"unsupported: {message}")


def need(rule, right, message):
    if not right:
        raise Corrupt(rule, message)


# --- Primitives (FORMAT.md, sections 3 and 6.1) ------------------------------


def value_bytes(bits):
    return (bits + 7) // 8


class Cursor:
    """Reads little-endian primitives front to back; too few bytes break `rule`."""

    def __init__(self, data, rule):
        self.data, self.at, self.rule = data, 0, rule

    def take(self, n):
        left = len(self.data) - self.at
        need(self.rule, n <= left, f"{n} bytes expected, {left} left")
        self.at += n
        return self.data[self.at - n : self.at]

    def number(self, n):
        return int.from_bytes(self.take(n), "little")

    def signed(self, n):
        return int.from_bytes(self.take(n), "little", signed=True)

    def text(self, length_bytes):
        data = self.take(self.number(length_bytes))
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise Corrupt("S-2", str(error)) from None

    def name(self):
        return self.text(1)

    def properties(self):
        count = self.number(2)
        need("S-3", count <= 256, f"{count} properties")
        out = {}
        for _ in range(count):
            key = self.name()
            need("S-3", key not in out, f"property '{key}' twice")
            kind = self.number(1)
            need("S-4", kind <= 3, f"property '{key}' of type {kind}")
            if kind == 0:
                out[key] = self.number(8)
            elif kind == 1:
                out[key] = self.signed(8)
            elif kind == 2:
                out[key] = self.text(4)
            else:
                out[key] = self.take(self.number(4))
        return out

    def end(self):
        left = len(self.data) - self.at
        need(self.rule, left == 0, f"{left} bytes too many")


# --- Schema (section 6) ------------------------------------------------------

UNSIGNED, SIGNED, FLOAT = 0, 1, 2


class Field:
    def __init__(self, cursor):
        self.name = cursor.name()
        self.kind = cursor.number(1)
        self.bits = cursor.number(1)
        self.count = cursor.number(4)
        self.bias = cursor.signed(8)
        self.minimum = cursor.signed(8)
        self.maximum = cursor.signed(8)
        self.properties = cursor.properties()

    def check(self):
        need("S-10", self.kind <= 2, f"field '{self.name}' of kind {self.kind}")
        need("S-9", 1 <= self.bits <= 32 and self.count >= 1, f"field '{self.name}' is empty")
        if self.kind == FLOAT:
            plain = self.bits == 32 and self.bias == self.minimum == self.maximum == 0
            need("S-10", plain, f"field '{self.name}' is no plain float")
            return
        top = self.bias + 2**self.bits - 1
        ordered = self.bias <= self.minimum <= self.maximum <= top < 2**63
        sign = self.kind == SIGNED or self.minimum >= 0
        need("S-11", ordered and sign, f"field '{self.name}' has impossible bounds")

    def allows(self, raw):
        if raw >= 2**self.bits:
            return False
        return self.kind == FLOAT or self.minimum <= raw + self.bias <= self.maximum

    def value(self, raw):
        """What a raw value means, as a Python number."""
        if self.kind == FLOAT:
            return struct.unpack("<f", struct.pack("<I", raw))[0]
        return raw + self.bias


class Column:
    def __init__(self, cursor):
        self.name = cursor.name()
        self.first = cursor.number(8)
        self.count = cursor.number(8)
        self.block_positions = cursor.number(2)
        orders = cursor.number(2)
        need("S-16", orders <= 1, f"{orders} orders of a column")
        self.order = (cursor.name(), cursor.properties()) if orders else None
        self.codec = cursor.name()
        self.codec_version = cursor.number(2)
        self.codec_parameters = cursor.properties()
        self.fields = [Field(cursor) for _ in range(cursor.number(2))]
        self.elsewhere = [cursor.number(4) for _ in range(cursor.number(2))]

    def layout(self):
        """A field for each value of a record."""
        return [field for field in self.fields for _ in range(field.count)]

    def check(self, positions):
        size = self.block_positions
        need("S-6", 1 <= size <= 32768, f"blocks of {size} positions")
        need("S-7", self.first + self.count <= positions, "numbers behind the last position")
        need("S-8", 1 <= len(self.fields) <= 1024, f"{len(self.fields)} fields")
        for field in self.fields:
            field.check()
        self.width = sum(field.count for field in self.fields)
        need("S-8", self.width <= 65535, f"{self.width} values in a record")
        need("S-15", self.width * size <= 2**24, "too many values in a block")
        self.bits = [field.bits for field in self.layout()]
        whole = self.first == 0 and self.count == positions
        length = 0 if whole else self.width
        need("S-12", len(self.elsewhere) == length, "no fitting record for other numbers")
        allowed = all(f.allows(v) for f, v in zip(self.layout(), self.elsewhere))
        need("S-12", allowed, "the record for other numbers is out of bounds")

    # The block grid (section 7.1).

    def blocks(self):
        if self.count == 0:
            return 0
        last = self.first + self.count - 1
        return last // self.block_positions - self.first // self.block_positions + 1

    def row_of(self, number):
        return number if self.order is None else self.order.row_of(number)

    def block_of(self, row):
        return row // self.block_positions - self.first // self.block_positions

    def block_range(self, block):
        cell = self.first // self.block_positions + block
        start = max(cell * self.block_positions, self.first)
        end = min((cell + 1) * self.block_positions, self.first + self.count)
        return start, end

    # The block index (section 8).

    def parse_index(self, cursor):
        self.region_offset = cursor.number(8)
        self.region_bytes = cursor.number(8)
        self.bias = cursor.number(4)
        self.group_log2 = cursor.number(1)
        self.delta_bits = cursor.number(1)
        reserved = cursor.number(2)
        need("I-2", self.group_log2 <= 16 and self.delta_bits <= 28, "impossible index")
        need("I-3", reserved == 0, "reserved bytes of the index are not zero")
        groups = -(-self.blocks() // 2**self.group_log2)
        knots = cursor.take(8 * (groups + 1))
        self.knots = list(struct.unpack(f"<{groups + 1}Q", knots))
        need("I-6", self.knots == sorted(self.knots), "descending knots")
        self.deltas = cursor.take((self.blocks() * self.delta_bits + 7) // 8)

    def offset(self, block):
        if block == self.blocks():
            return self.region_bytes
        group, within = block >> self.group_log2, block & (2**self.group_log2 - 1)
        slope = (self.knots[group + 1] - self.knots[group]) >> self.group_log2
        delta = bits_at(self.deltas, block * self.delta_bits, self.delta_bits)
        return self.knots[group] + within * slope + delta - self.bias


def bits_at(data, bit, width):
    """A number of `width` bits at bit `bit` of a byte sequence."""
    first, last = bit // 8, (bit + width + 7) // 8
    return (int.from_bytes(data[first:last], "little") >> (bit % 8)) & (2**width - 1)


# --- Codecs (section 11): payload -> list of records -------------------------


def decode_stored(column, payload, count, _first, _table):
    sizes = [value_bytes(bits) for bits in column.bits]
    need("B-3", len(payload) == count * sum(sizes), "wrong length of a block")
    cursor = Cursor(payload, "B-3")
    records = [[cursor.number(size) for size in sizes] for _ in range(count)]
    for record in records:
        for value, bits in zip(record, column.bits):
            need("B-4", value < 2**bits, f"value {value} has more than {bits} bits")
    return records


def decode_planes(column, planes, count):
    sizes = [value_bytes(bits) for bits in column.bits]
    need("B-3", len(planes) == count * sum(sizes), "wrong length of a block's planes")
    records = [[0] * column.width for _ in range(count)]
    at = 0
    for i, (size, bits) in enumerate(zip(sizes, column.bits)):
        before = 0
        for r in range(count):
            bytes_of_it = bytes(planes[at + k * count + r] for k in range(size))
            difference = int.from_bytes(bytes_of_it, "little")
            need("B-4", difference < 2**bits, f"a difference has more than {bits} bits")
            before = (before + difference) % 2**bits
            records[r][i] = before
        at += size * count
    return records


def decode_lz4(column, payload, count, _first, _table):
    import lz4.block

    length = count * sum(value_bytes(bits) for bits in column.bits)
    try:
        planes = lz4.block.decompress(payload, uncompressed_size=length)
    except lz4.block.LZ4BlockError as error:
        raise Corrupt("B-5", f"LZ4 says: {error}") from None
    return decode_planes(column, planes, count)


def decode_zstd(column, payload, count, _first, _table):
    import zstandard

    dictionary = column.codec_parameters.get("dictionary", b"")
    loaded = zstandard.ZstdCompressionDict(dictionary) if dictionary else None
    frame = zstandard.ZstdDecompressor(dict_data=loaded).decompressobj()
    try:
        planes = frame.decompress(payload)
    except zstandard.ZstdError as error:
        raise Corrupt("B-6", f"zstd says: {error}") from None
    need("B-6", frame.eof and not frame.unused_data, "the payload is not one frame")
    length = count * sum(value_bytes(bits) for bits in column.bits)
    need("B-6", len(planes) <= length, f"more than {length} bytes in the frame")
    return decode_planes(column, planes, count)


def decode_packed(column, payload, count, _first, _table):
    cursor = Cursor(payload, "P-1")
    first, active = cursor.number(2), cursor.number(2)
    need("P-2", first + active <= column.width, "the table covers too many values")
    widths = list(cursor.take(active))
    base_bytes = max(value_bytes(bits) for bits in column.bits)
    bases = [cursor.number(base_bytes) for _ in range(active)]
    fitting = all(width <= bits for width, bits in zip(widths, column.bits[first:]))
    need("P-3", fitting, "a width of more bits than its field")
    data = payload[cursor.at :]
    need("P-4", len(data) == (count * sum(widths) + 7) // 8, "wrong length of the records")
    records, bit = [], 0
    for _ in range(count):
        record = [0] * column.width
        for j, (width, base) in enumerate(zip(widths, bases)):
            value = base + bits_at(data, bit, width)
            bit += width
            need("P-5", value < 2 ** column.bits[first + j], f"value {value} is too large")
            record[first + j] = value
        records.append(record)
    return records


# --- Codec `small` (small.md) ------------------------------------------------


def clamp(x, low, high):
    return max(low, min(high, x))


def log2(x):
    return x.bit_length() - 1


def signed32(x):
    return (x + 2**31) % 2**32 - 2**31


class AliasTable:
    """A table of rANS: what each of its 4096 slots means (section 3)."""

    def __init__(self, frequencies):
        need("small-1", sum(frequencies) == 4096, "frequencies do not sum to 4096")
        self.frequencies, n = frequencies, len(frequencies)
        c = self.size = 4096 // n
        left, placed = list(frequencies), [0] * n
        small = [s for s in reversed(range(n)) if left[s] < c]
        large = [s for s in reversed(range(n)) if left[s] >= c]
        # For each bucket: its own share, own first index, other symbol, its first index.
        self.buckets = [None] * n
        while small:
            a, b = small.pop(), large[-1]
            self.buckets[a] = (left[a], placed[a], b, placed[b])
            placed[a] += left[a]
            placed[b] += c - left[a]
            left[b] -= c - left[a]
            left[a] = 0
            if left[b] < c:
                small.append(large.pop())
        for a in large:
            self.buckets[a] = (c, placed[a], a, 0)

    def slot(self, slot):
        bucket, low = divmod(slot, self.size)
        own, first, other, other_first = self.buckets[bucket]
        if low < own:
            return bucket, first + low
        return other, other_first + low - own


class Rans:
    def __init__(self, payload):
        need("RANS-3", len(payload) >= 4, "no room for the state")
        self.payload, self.state = payload, int.from_bytes(payload[:4], "little")
        self.at, self.raw_bits = 4, 0

    def symbol(self, table):
        symbol, index = table.slot(self.state % 4096)
        self.state = (table.frequencies[symbol] * (self.state >> 12) + index) % 2**32
        if self.state < 2**16:
            word = int.from_bytes(self.payload[self.at : self.at + 2], "little")
            self.state, self.at = self.state << 16 | word, self.at + 2
        return symbol

    def raw(self, n):
        value = 0
        for i in range(n):
            place = len(self.payload) - 1 - self.raw_bits // 8
            byte = self.payload[place] if place >= 0 else 0
            value |= (byte >> self.raw_bits % 8 & 1) << i
            self.raw_bits += 1
        return value

    def end(self):
        length = self.at + (self.raw_bits + 7) // 8
        whole = self.state == 2**16 and length == len(self.payload)
        need("RANS-4", whole, "the payload does not end with its last record")


BIN_FIRST = [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24, 40, 72, 200]
BIN_BITS = [0] * 8 + [1, 1, 2, 3, 4, 5, 7, 32]


def half_log(x):
    """Twice the logarithm of a number, and the bit below its highest one."""
    return 2 * log2(x) + (x >> (log2(x) - 1) & 1 if x > 1 else 0)


def dynamic_class(magnitude):
    if magnitude < 4:
        return magnitude
    return half_log(magnitude) if magnitude < 16 else min(log2(magnitude) + 4, 14)


class SmallModel:
    """Section 2."""

    def __init__(self, column):
        data = column.codec_parameters.get("model")
        need("small-1", type(data) is bytes, "the codec has no model")
        c = Cursor(data, "small-1")
        flags = c.number(1)
        self.spread, has_total, self.ties = bool(flags & 1), bool(flags & 2), bool(flags & 4)
        self.kinds, self.classes = c.number(1), c.number(1)
        self.thresholds = [c.number(1) for _ in range(c.number(1))]
        self.total = c.number(4) if has_total else None
        self.anchoring = c.number(1)
        self.anchors, row = [], [0] * column.width
        for _ in range(c.number(4)):
            row = [before + self.varint(c) for before in row]
            self.anchors.append(row)
        self.anchors = self.anchors or [row]
        self.sets = [(c.number(2), c.number(1)) for _ in range(c.number(2))]
        groups = len(self.thresholds) + 1
        self.cells = [[self.cell(c, mask) for _ in range(groups)] for mask, _ in self.sets]
        self.keys = {}
        for _ in range(c.number(4)):
            key = c.number(4)
            self.keys[key] = c.number(2)
        self.clusters = []
        for _ in range(c.number(1)):
            shift = c.number(1)
            self.clusters.append((shift, AliasTable([c.number(2) for _ in range(32)])))
        self.contexts = [c.take(16) for _ in range(128)]
        self.modes = [AliasTable([c.number(2) for _ in range(4)]) for _ in range(5 if self.ties else 4)]
        c.end()

    @staticmethod
    def varint(cursor):
        value, shift = 0, 0
        while True:
            byte = cursor.number(1)
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 128:
                break
        return value >> 1 if value % 2 == 0 else -(value + 1 >> 1)

    def cell(self, c, mask):
        others = max(bin(mask).count("1") - 1, 0)
        features = 6 + others + 2 * min(others, 1) if self.spread else 2 + others
        first, end = c.number(1), c.number(1)
        need("small-1", first <= end <= 16, "impossible lanes")
        weights = [[0] * 16 for _ in range(features)]
        for row in weights:
            row[first:end] = [c.signed(2) for _ in range(first, end)]
        feedback = [[0] * 4 for _ in range(16)]
        feedback[first:end] = [[c.signed(2) for _ in range(4)] for _ in range(first, end)]
        return weights, feedback, [c.signed(2) for _ in range(10)]


class SmallRow:
    """The values of a record or an anchor, with what later ones ask of it."""

    def __init__(self, values, magnitudes, model, bits):
        self.values, self.magnitudes = values, magnitudes
        self.first = next((i for i, v in enumerate(values) if v), 65535)
        mean = values[0] >> max(bits[0] - 8, 0)
        if model.spread:
            mean = sum(i * v for i, v in enumerate(values)) // max(sum(values), 1)
        self.mean = min(mean, 255)

    def __getitem__(self, i):
        return self.values[i] if 0 <= i < len(self.values) else 0

    def magnitude(self, i):
        return self.magnitudes[i] if 0 <= i < len(self.magnitudes) else 0


def decode_small(column, payload, count, first, table):
    if not hasattr(column, "small_model"):
        column.small_model = SmallModel(column)
    model, width = column.small_model, column.width
    rans = Rans(payload)
    with_modes, free = rans.raw(1), rans.raw(1)
    loose = model.ties and rans.raw(1)
    total = None if free else model.total
    zeros, before, rows, anchors = [0] * width, 0, [], []
    for slot in range(count):
        back, own_anchors, group_class, tied = table.describe(column, first + slot)
        mode = 0
        if model.ties and tied and slot > 0:
            mode = rans.symbol(model.modes[4]) if loose else 1
            if mode == 1:
                rows.append(rows[slot - 1])
                anchors.append(anchors[slot - 1])
                continue
        elif with_modes:
            mode = before = rans.symbol(model.modes[before])
        # References (section 4).
        available = {k for k in range(15) if k < len(back) and 0 < back[k] <= slot}
        if slot > 0 and 1 not in back[:15]:
            available.add(15)
        key = group_class << (model.kinds + 1) | (15 in available) << model.kinds
        key |= sum(1 << k for k in available if k < model.kinds)
        chosen = model.keys.get(key, 0)
        mask, margin = model.sets[chosen]
        kinds = [k for k in range(16) if mask >> k & 1]
        need("small-1", available.issuperset(kinds), "a set with references that are missing")
        places = [slot - (back[k] if k < 15 else 1) for k in kinds]
        own = min(own_anchors[model.anchoring], len(model.anchors) - 1)
        anchors.append(SmallRow(model.anchors[own], zeros, model, column.bits))
        references = [rows[place] for place in places]
        base = references[0] if references else anchors[slot]
        base_anchor = anchors[places[0]] if references else anchors[slot]
        group = sum(t <= base.mean for t in model.thresholds)
        if mode == 1 and not references:
            rows.append(base)
            continue
        if mode in (1, 2):
            need("small-2", mode <= len(references), "a copy of nothing")
            rows.append(references[mode - 1])
            anchors[slot] = anchors[places[mode - 1]]
            continue
        start = 0 if mode == 3 or not model.spread else min(base.first, width)
        start = max(start - margin, 0) if mode != 3 and model.spread else start
        values, magnitudes = decode_values(
            model,
            column.bits,
            model.cells[chosen][group],
            (base, references[1:], anchors[slot], base_anchor),
            references,
            (start, total),
            rans,
        )
        rows.append(SmallRow(values, magnitudes, model, column.bits))
    rans.end()
    return [row.values for row in rows]


def predict(model, narrow, cell, rows, references, i, lane):
    """P[i] and the static class (section 5)."""
    base, others, own, base_anchor = rows
    weights, _, scales = cell
    features = [-(base[i] >> 1), own[i] - base_anchor[i]]
    if model.spread:
        features += [base[i + d] - base[i] for d in (-1, 1, -2, 2)]
    for k, r in enumerate(others):
        near = (-1, 0, 1) if model.spread and k == 0 else (0,)
        features += [r[i + d] - base[i + d] for d in near]
    if narrow:
        features = [clamp(f, -32768, 32767) for f in features]
    weighted = sum(w[lane] * f for w, f in zip(weights, features))
    if narrow:
        weighted = signed32(weighted)
    P = clamp(16 * base[i] + (weighted + 128 >> 8), -(2**36), 2**36)

    def lim(x):
        return clamp(x, 0, 32767)

    nothing = SmallRow([0], [0], model, [16])
    one, two = (references + [nothing, nothing])[:2]
    sums = [min(sum(r.magnitudes) >> 3, 65535) for r in (one, two)]
    p = lim(P >> 4)
    spread = lim(abs(base[i] - others[0][i]) >> 1) if others else 0
    features = [lim(one.magnitude(i)), lim(one.magnitude(i + 1)), lim(two.magnitude(i)), spread]
    features += [min(p, 16), min(p, 256), p >> 4, lim(sums[0]), lim(sums[1]), 16]
    D = max(signed32(sum(s * f for s, f in zip(scales, features))) >> 4, 1)
    zone = 0
    if model.spread:
        zone = 80 if base[i] == 0 else 40 if base[i + 1] == 0 else 0
    return P, zone + min(half_log(D), 39)


def decode_values(model, bits, cell, rows, references, extent, rans):
    """Section 6."""
    base, (start, total), width = rows[0], extent, len(bits)
    values, magnitudes = [0] * width, [0] * width
    narrow = all(b <= 16 for b in bits)
    window = min(max(base.mean - 7, 0), max(width - 16, 0)) if model.spread else None
    errors, error_sum, dynamic = [0, 0, 0], 0, 0
    rest = 2**32 - 1 if total is None else total
    for i in range(start, width):
        inside = window is None or window <= i < window + 16
        lane = i % 16 if window is None else i - window
        if inside:
            P, static = predict(model, narrow, cell, rows, references, i, lane)
            b = cell[1][lane]
            c = b[0] * errors[0] + b[1] * errors[1] + b[2] * errors[2] + b[3] * error_sum
            c >>= 12
        else:
            P, static, c = 16 * base[i], 120 + min(base[i].bit_length(), 7), 0
        shift, table = model.clusters[model.contexts[static][dynamic]]
        symbol = rans.symbol(table)
        low = BIN_FIRST[symbol // 2] << shift
        n = min(BIN_BITS[symbol // 2] + shift, 32)
        magnitude = low + rans.raw(n)
        residual = magnitude if symbol % 2 == 0 else -1 - magnitude
        most = min(2 ** bits[i] - 1, rest)
        v = clamp(P + c + 8 >> 4, 0, most) + residual
        need("small-3", 0 <= v <= most, f"a value of {v}, at most {most} expected")
        values[i], magnitudes[i] = v, min(abs(residual), 65535)
        error = 16 * v - P
        errors = [error] + errors[:2]
        error_sum += error if model.spread else 0
        middle = low + (2 ** min(n - 1, 30) if n > 0 else 0)
        dynamic = dynamic_class(min(middle, 2**32 - 1))
        if total is not None:
            rest -= v
            if rest == 0:
                break
    need("small-4", total is None or rest == 0, "values do not sum to what they all do")
    return values, magnitudes


# What the numberings tell of a number: distances, anchors, class (section 7).


def describe_flat(number):
    return [], (0, 0), 0, False


MOVES = [[0], [0, 0], [1], [0, 1], [2], [0, 2], [1, 2], [0, 1, 2], [0, 0, 0], [0, 0, 1], [1, 1]]
MOVES.append([0, 0, 1, 1])


def multiset_position(number, points, chequers):
    """Chequers on each point (FORMAT.md, 12.2)."""
    sums, most = [], chequers
    for k in range(points):
        while comb(most + points - 1 - k, points - k) > number:
            most -= 1
        number -= comb(most + points - 1 - k, points - k)
        sums.append(most)
    return [a - b for a, b in zip(sums, sums[1:] + [0])]


def multiset_number(counts):
    points, above, number = len(counts), 0, 0
    for k in reversed(range(points)):
        above += counts[k]
        number += comb(above + points - 1 - k, points - k)
    return number


def describe_multiset(number, points, chequers):
    counts = multiset_position(number, points, chequers)
    high = [p for p in range(points, 0, -1) for _ in range(counts[p - 1])][:3]
    high += [0] * (3 - len(high))
    back = []
    for moves in MOVES:
        h, now, distance = list(high), list(counts), 0
        for chequer in moves:
            q = h[chequer]
            if q == 0 or q < high[2]:
                distance = 0
                break
            a = sum(now[q - 1 :])
            distance += comb(a + points - 1 - q, points - q)
            now[q - 1] -= 1
            if q > 1:
                now[q - 2] += 1
            h[chequer] -= 1
        if distance in back or distance >= 2**16:
            distance = 0
        back.append(distance)
    pips = sum((i + 1) * c for i, c in enumerate(counts))
    high_anchor = 0
    if points > 6 and comb(points - 6 + chequers, chequers) <= 65536:
        high_anchor = multiset_number(counts[6:])
    return back, (pips, high_anchor), 1 if high[0] > 6 else 0, False


PAIR_KINDS = [(None, 0), (0, None), (0, 0), (None, 2), (None, 3), (2, None), (3, None), (0, 2)]
PAIR_KINDS += [(2, 0), (None, 1), (1, None), (2, 2), (None, 4), (4, None), (0, 3)]


def pair_distances(us, them, row):
    back = []
    for ours, theirs in PAIR_KINDS:
        parts = [0 if ours is None else us[ours], 0 if theirs is None else them[theirs]]
        missing = (ours is not None and parts[0] == 0) or (theirs is not None and parts[1] == 0)
        distance = 0 if missing else parts[0] * row + parts[1]
        back.append(distance if distance < 2**16 else 0)
    return back


def pair_anchors(told, points, chequers):
    (_, us, *_), (_, them, *_) = told
    most = points * chequers + 1
    return (us[0] * most + them[0] if most * most <= 65536 else 0), 0


def describe_pair(number, points, chequers):
    n = comb(points + chequers, chequers)
    told = [describe_multiset(side, points, chequers) for side in divmod(number, n)]
    back = pair_distances(told[0][0], told[1][0], n)
    return back, pair_anchors(told, points, chequers), 0, False


# --- The order `grouped` (FORMAT.md, 12.4) -------------------------------------


def arrangements(points, chequers):
    return comb(chequers + points - 1, points - 1) if points else int(chequers == 0)


class Grouped:
    def __init__(self, points, chequers, parameters):
        self.points, self.chequers = points, chequers
        self.low = parameter(parameters, "low", 1, min(points, 6))
        data = parameters.get("classes")
        need("N-1", type(data) is bytes, "no 'classes'")
        cursor = Cursor(data, "N-2")
        self.places, self.numbers, self.classes = [], [], []
        for home in range(chequers + 1):
            count, most = arrangements(self.low, home), cursor.number(2)
            bits = max(most - 1, 0).bit_length()
            packed = cursor.take((count * bits + 7) // 8)
            classes = [bits_at(packed, i * bits, bits) for i in range(count)]
            need("N-2", all(c < most for c in classes), "a class that is not one")
            # A stable sort: within a class by number.
            numbers = sorted(range(count), key=lambda i: classes[i])
            places = [0] * count
            for place, i in enumerate(numbers):
                places[i] = place
            self.places.append(places)
            self.numbers.append(numbers)
            self.classes.append([classes[i] for i in numbers])
        cursor.end()
        self.outside = points - self.low
        self.first = comb(points + chequers - 1, points)

    def range(self):
        return self.first, comb(self.points + self.chequers, self.points)

    def row_of(self, number):
        counts = multiset_position(number, self.points, self.chequers)
        low, high = counts[: self.low], counts[self.low :]
        home, k = sum(low), sum(high)
        row = self.first
        for fewer in range(k):
            row += arrangements(self.outside, fewer) * arrangements(self.low, self.chequers - fewer)
        place = multiset_number(high) - comb(k + self.outside - 1, self.outside) if high else 0
        among = multiset_number(low) - comb(home + self.low - 1, self.low)
        return row + place * arrangements(self.low, home) + self.places[home][among]

    def describe(self, row):
        """Distances, anchors, class and tie of a row (small.md, section 7)."""
        rest, k = row - self.first, 0
        while True:
            home = self.chequers - k
            rows = arrangements(self.outside, k) * arrangements(self.low, home)
            if rest < rows:
                break
            rest, k = rest - rows, k + 1
        fewer = comb(k + self.outside - 1, self.outside) if self.outside else 0
        place = rest % arrangements(self.low, home)
        high = fewer + rest // arrangements(self.low, home)
        anchors = comb(self.outside + self.chequers, self.chequers)
        anchor = high if anchors <= 65536 else 0
        classes = self.classes[home]
        if place > 0 and classes[place] == classes[place - 1]:
            return [0, 0], (anchor, 0), 0, True
        starts = [p for p in range(place + 1) if p == 0 or classes[p] != classes[p - 1]]
        back = [place - s + 1 if s > 0 else 0 for s in starts[-2:-4:-1]]
        return back + [0] * (2 - len(back)), (anchor, 0), 0, False


class Tiled:
    """The order `tiled` (FORMAT.md, 12.4)."""

    def __init__(self, points, chequers, parameters):
        self.points, self.chequers = points, chequers
        self.positions = comb(points + chequers, chequers)
        self.side = parameter(parameters, "side", 1, 128)
        need("N-2", self.positions % self.side == 0, "the side of tiles divides nothing")

    def range(self):
        return 0, self.positions**2

    def row_of(self, number):
        us, them = divmod(number, self.positions)
        tile = us // self.side * (self.positions // self.side) + them // self.side
        return (tile * self.side + us % self.side) * self.side + them % self.side

    def describe(self, row):
        tile, within = divmod(row, self.side**2)
        places = divmod(within, self.side)
        bands = divmod(tile, self.positions // self.side)
        sides = [band * self.side + place for band, place in zip(bands, places)]
        told = [describe_multiset(n, self.points, self.chequers) for n in sides]
        # Moves to another tile are none.
        inside = [
            [d if d <= place else 0 for d in back] for (back, *_), place in zip(told, places)
        ]
        back = pair_distances(*inside, self.side)
        return back, pair_anchors(told, self.points, self.chequers), 0, False


# --- Chess: numbering `kings` and codec `context` (kings.md) -----------------


def mirrored(square, reflection):
    if reflection & 1:
        square ^= 7
    if reflection & 2:
        square ^= 56
    if reflection & 4:
        square = (square & 7) * 8 + (square >> 3)
    return square


def touching(a, b):
    return max(abs((a & 7) - (b & 7)), abs((a >> 3) - (b >> 3))) <= 1


def above(square):
    """Whether a square is above the diagonal a1-h8."""
    return square >> 3 > (square & 7)


def on_diagonal(square):
    return square >> 3 == (square & 7)


def reflection_of_kings(first, second, segments):
    """The reflection that brings two kings to their segment (section 3)."""
    reflection = 1 if first & 7 >= 4 else 0
    if segments == 1806:
        return reflection
    reflection |= 2 if first >> 3 >= 4 else 0
    first, second = mirrored(first, reflection), mirrored(second, reflection)
    swap = above(first) or (segments == 462 and on_diagonal(first) and above(second))
    return reflection | (4 if swap else 0)


def segments_of(segments):
    """The kings' squares of each segment, in order."""
    pairs = ((a, b) for a in range(64) for b in range(64) if not touching(a, b))
    return [p for p in pairs if reflection_of_kings(*p, segments) == 0]


WHITE, BLACK = 0, 1
LINES = {"R": [(0, 1), (1, 0), (0, -1), (-1, 0)], "B": [(1, 1), (1, -1), (-1, 1), (-1, -1)]}
LINES["Q"] = LINES["R"] + LINES["B"]
JUMPS = [(1, 2), (2, 1), (-1, 2), (-2, 1), (1, -2), (2, -1), (-1, -2), (-2, -1)]


def steps(square, direction):
    """The squares from a square to the board's edge in one direction."""
    file, rank = (square & 7) + direction[0], (square >> 3) + direction[1]
    while 0 <= file < 8 and 0 <= rank < 8:
        yield rank * 8 + file
        file, rank = file + direction[0], rank + direction[1]


def attacks(letter, square, occupied):
    """The squares that a man attacks; lines end at the first occupied square."""
    kind, out = letter.upper(), set()
    if kind == "P":
        up = 1 if letter == "P" else -1
        return {s for d in ((-1, up), (1, up)) for s in list(steps(square, d))[:1]}
    if kind in "NK":
        jumps = JUMPS if kind == "N" else LINES["Q"]
        return {s for d in jumps for s in list(steps(square, d))[:1]}
    for direction in LINES[kind]:
        for target in steps(square, direction):
            out.add(target)
            if target in occupied:
                break
    return out


def between(a, b):
    """The squares strictly between two squares on one line."""
    for direction in LINES["Q"]:
        line = list(steps(a, direction))
        if b in line:
            return set(line[: line.index(b)])
    return set()


class Kings:
    """The placements of numbering `kings`, version 1."""

    def __init__(self, parameters):
        self.men, self.sides = men_and_sides(parameters)
        self.segment_count = parameter(parameters, "segments", 0, 2**64 - 1)
        allowed = [1806] if "P" in self.men.upper() else [564, 462]
        need("N-2", self.segment_count in allowed, f"{self.segment_count} segments")
        self.segments = segments_of(self.segment_count)
        self.sizes = [48 if man in "Pp" else 64 for man in self.men]
        self.length = len(self.segments)
        for size in self.sizes:
            self.length *= size

    def fixed(self, row_start):
        """Squares of the kings and of all men but the last, of a row."""
        number, squares = row_start // self.sizes[-1], []
        for size in reversed(self.sizes[:-1]):
            squares.insert(0, number % size + (8 if size == 48 else 0))
            number //= size
        return self.segments[number], squares

    def sorted_men(self, squares):
        """Squares with those of like men in ascending order (section 4, step 2)."""
        out, i = [], 0
        while i < len(self.men):
            j = i
            while j < len(self.men) and self.men[j] == self.men[i]:
                j += 1
            out += sorted(squares[i:j])
            i = j
        return out

    def row(self, row_start):
        return Row(self, *self.fixed(row_start))


def side_of(letter):
    return WHITE if letter.isupper() else BLACK


class Row:
    """What is known of the numbers that differ in the last man only (section 9)."""

    def __init__(self, numbering, kings, squares):
        self.kings, self.squares = kings, squares
        self.others = list(zip(numbering.men[:-1], squares))
        self.last = numbering.men[-1]
        self.occupied = set(kings) | set(squares)
        self.numbering = numbering
        distinct = self.distinct()
        self.present = [
            {s for s in distinct if s not in self.attacked(side, kings[1 - side])}
            for side in (WHITE, BLACK)
        ]

    def distinct(self):
        kings, men = self.kings, self.numbering.men
        if len(self.occupied) < 2 + len(self.squares):
            return set()
        pairs = zip(self.others, self.others[1:])
        if any(a[0] == b[0] and a[1] > b[1] for a, b in pairs):
            return set()
        if self.numbering.segment_count == 564 and on_diagonal(kings[0]) and above(kings[1]):
            return set()
        slots = set(range(8, 56) if self.last in "Pp" else range(64)) - self.occupied
        if self.others and self.others[-1][0] == self.last:
            slots = {s for s in slots if s > self.squares[-1]}
        pawns = "P" in men.upper()
        if not pawns and on_diagonal(kings[0]) and on_diagonal(kings[1]):

            def canonical(slot):
                mine = self.squares + [slot]
                image = self.numbering.sorted_men([mirrored(s, 4) for s in mine])
                return mine <= image

            slots = {s for s in slots if canonical(s)}
        return slots

    def attacked(self, side, target):
        slots = set()
        for man, square in self.others:
            if side_of(man) == side and target in attacks(man, square, self.occupied):
                slots |= set(range(64)) - between(square, target)
        if side_of(self.last) == side:
            # From where a man of its kind on the target would attack back.
            back = self.last.swapcase() if self.last in "Pp" else self.last
            slots |= attacks(back, target, self.occupied)
        return slots

    def hints(self, side):
        other, own_king, their_king = 1 - side, self.kings[side], self.kings[1 - side]
        first = self.attacked(other, own_king)
        second = set()
        everything = set(range(64))
        for man, square in self.others:
            if side_of(man) == other:
                second |= self.attacked(side, square)
                if touching(own_king, square) and not touching(their_king, square):
                    second |= everything - self.attacked(other, square)
        if side_of(self.last) == other:
            guarded = set()
            for man, square in self.others:
                reach = attacks(man, square, self.occupied)
                if side_of(man) == side:
                    second |= reach
                else:
                    guarded |= reach
            near = {s for s in everything if touching(own_king, s) and s != own_king}
            second |= {s for s in near - guarded if not touching(their_king, s)}
        return first, second


def men_and_sides(parameters):
    men = parameters.get("men")
    need("N-1", type(men) is str, "no 'men'")
    right = 1 <= len(men) <= 5 and all(man in "QRBNPqrbnp" for man in men)
    need("N-2", right, f"men '{men}'")
    return men, parameter(parameters, "sides", 1, 3)


def length_of_kings(parameters):
    return Kings(parameters).length


def length_of_kings_tight(parameters):
    men, _ = men_and_sides(parameters)
    pawns = [man for man in men if man in "Pp"]
    need("N-2", all(man in "Pp" for man in men[: len(pawns)]), "pawns are not first")
    length, i, before = (1806 if pawns else 462), 0, 0
    while i < len(men):
        k = len(men[i:]) - len(men[i:].lstrip(men[i]))
        free = 48 - before if men[i] in "Pp" else 62 - before
        length *= comb(free, k)
        before, i = before + k, i + k
    return length


class ContextModel:
    """What a value of codec `context` is coded with."""

    def __init__(self, cursor):
        numbers = [cursor.number(2) for _ in range(5)]
        self.most, self.start, self.landmark, echoes, distributions = numbers
        self.echo = [cursor.number(2) for _ in range(echoes)]
        self.near = cursor.take(250 * (self.most + 1))
        self.far = cursor.take(2500)
        self.joint = cursor.take(96 * 32)
        self.distributions = []
        for _ in range(distributions):
            pairs = [(cursor.number(1), cursor.number(2)) for _ in range(cursor.number(1))]
            need("C-1", sum(n for _, n in pairs) == 4096, "frequencies have another sum than 4096")
            self.distributions.append(pairs)
        ranges = [(self.near, 96), (self.far, 32), (self.joint, distributions)]
        need("C-1", all(c < n for classes, n in ranges for c in classes), "a class is out of range")


class RangeDecoder:
    def __init__(self, payload):
        self.payload, self.at, self.range, self.code = payload, 4, 2**32 - 1, 0
        self.code = int.from_bytes(payload[:4].ljust(4, b"\0"), "big")

    def shift(self):
        while self.range < 2**24:
            byte = self.payload[self.at] if self.at < len(self.payload) else 0
            self.code = (self.code << 8 | byte) & 0xFFFFFFFF
            self.range, self.at = self.range << 8, self.at + 1

    def symbol(self, distribution):
        if len(distribution) == 1:
            return distribution[0][0]
        unit, end = self.range >> 12, 0
        for symbol, frequency in distribution:
            end += frequency
            if self.code < unit * end:
                break
        self.code -= unit * (end - frequency)
        self.range = unit * frequency
        self.shift()
        return symbol

    def plain(self, bits):
        unit = self.range >> bits
        value = self.code // unit
        self.code -= unit * value
        self.range = unit
        self.shift()
        return value


def limited(difference):
    return max(-2, min(2, difference)) + 2


# Neighbours of a slot; -1 is what would be before slot 0, kept as the 65th entry.


def left_of(s):
    return s - 1 if s & 7 else s - 8 if s >= 8 else -1


def below(s):
    return s - 8 if s >= 8 else left_of(s)


def both(s):
    return s - 9 if s >= 8 and s & 7 else s - 8 if s >= 8 else left_of(s)


def decode_context(column, payload, count, first, table):
    import zstandard

    need("C-1", table.numbering == "kings", "codec 'context' is for numbering 'kings'")
    numbering = table.numbering_of_kings
    if not hasattr(column, "context_models"):
        packed = column.codec_parameters.get("model", b"")
        try:
            model = zstandard.ZstdDecompressor().decompress(packed, max_output_size=4 << 20)
        except zstandard.ZstdError as error:
            raise Corrupt("C-1", f"the model: {error}")
        cursor = Cursor(model, "C-1")
        column.context_models = [ContextModel(cursor) for _ in range(column.width)]
        cursor.end()
    models = column.context_models
    coder = RangeDecoder(payload)
    size = numbering.sizes[-1]
    sides = {1: [WHITE], 2: [BLACK], 3: [WHITE, BLACK]}[numbering.sides]
    past, records = [None] * column.width, []
    for start in range(first, first + count, size):
        row = numbering.row(start)
        # The value whose side does not own the last man comes first.
        order = sorted(range(column.width), key=lambda v: sides[v] == side_of(row.last))
        values = [{} for _ in order]
        for turn, v in enumerate(order):
            present = row.present[sides[v]]
            if not present:
                continue
            known = values[order[0]] if turn else None
            walk = Walk(models[v], row, sides[v], known, past[v])
            for s in range(64):
                walk.slot(s, s in present, coder)
            past[v] = walk
            values[v] = {s: walk.V[s] for s in present}
        slots = range(8, 56) if size == 48 else range(64)
        records += [[values[v].get(s, 0) for v in range(column.width)] for s in slots]
    return records


class Walk:
    """One value of a row, decoded slot by slot; it becomes the surface P of the next."""

    def __init__(self, model, row, side, known, past):
        self.model, self.row, self.past, self.known = model, row, past, known
        before = model.start if past is None else past.V[0]
        self.V, self.O = [before] * 65, [before] * 65
        self.hints = row.hints(side)
        self.linked = known is not None and row.last not in "Pp"

    def echo(self, value):
        return self.model.echo[value] if value < len(self.model.echo) else 0

    def outlook(self, s):
        """O(s), or 0: what the first value says of the slots that can be reached."""
        reach = attacks(self.row.last, s, self.row.occupied) - self.row.occupied
        seen = [self.known[t] for t in reach if t in self.known]
        return self.echo(min(seen)) if seen else 0

    def slot(self, s, present, coder):
        V, O, past, model = self.V, self.O, self.past, self.model
        l, b, c = left_of(s), below(s), both(s)
        if self.linked:
            O[s] = self.outlook(s) or V[l]
        if not present:
            V[s] = V[l]
            return
        if past is None:
            last, last_left, last_below = V[l], V[c], V[c]
        else:
            last, last_left, last_below = past.V[s], past.V[l], past.V[b]
        pivot = sorted((V[l], V[b], last))[1]
        if self.known is None:
            digits = [V[c] - pivot, last_left - pivot, last_below - pivot, -2]
        else:
            E = self.echo(self.known[s]) if s in self.known else 0
            E = E or V[l]
            if self.linked:
                pivot = O[s]
                behind = V[c] - O[c] if past is None else past.V[s] - past.O[s]
                digits = [E - pivot, V[l] - O[l], V[b] - O[b], behind]
            else:
                digits = [E - pivot, V[c] - pivot, last_left - pivot, last_below - pivot]
        far = 2 * (s in self.hints[0]) + (s in self.hints[1])
        for digit in digits:
            far = 5 * far + limited(digit)
        pivot = max(0, min(model.most, pivot))
        near = 250 * pivot + (125 if past is None else 0)
        near += 25 * limited(V[l] - pivot) + 5 * limited(V[b] - pivot) + limited(last - pivot)
        joint = 32 * model.near[near] + model.far[far]
        symbol = coder.symbol(model.distributions[model.joint[joint]])
        if symbol == 63:
            value = coder.plain(model.most.bit_length())
        elif symbol == 62:
            value = model.landmark
        else:
            d = (symbol + 1) // 2
            value = pivot + d if symbol % 2 == 0 else pivot - d
        V[s] = max(1, min(model.most, value))


CODECS = {
    ("stored", 1): decode_stored,
    ("lz4", 1): decode_lz4,
    ("zstd", 1): decode_zstd,
    ("packed", 1): decode_packed,
    ("small", 1): decode_small,
    ("context", 1): decode_context,
}


# --- Numberings (section 12): parameters -> length ---------------------------


def parameter(parameters, key, least, most):
    need("N-1", type(parameters.get(key)) is int and parameters[key] >= 0, f"no '{key}'")
    need("N-2", least <= parameters[key] <= most, f"'{key}' is {parameters[key]}")
    return parameters[key]


def length_of_flat(parameters):
    return parameter(parameters, "positions", 0, 2**64 - 1)


def length_of_multiset(parameters):
    points = parameter(parameters, "points", 1, 25)
    chequers = parameter(parameters, "chequers", 1, 15)
    return comb(points + chequers, chequers)


def length_of_pair(parameters):
    length = length_of_multiset(parameters) ** 2
    need("N-2", length < 2**64, "more than 2^64 positions")
    return length


# What is told of each number of a table whose columns have codec `small`.
DESCRIPTIONS = {"multiset": describe_multiset, "pair": describe_pair}

NUMBERINGS = {
    ("flat", 1): length_of_flat,
    ("multiset", 1): length_of_multiset,
    ("pair", 1): length_of_pair,
    ("kings", 1): length_of_kings,
    ("kings", 2): length_of_kings_tight,
}


# --- The table ---------------------------------------------------------------

MAGIC = b"\x89ETB\r\n\x1a\n"
END_MAGIC = b"\x1aend.ETB"


class Table:
    def __init__(self, path):
        self.file = open(path, "rb")
        self.length = os.fstat(self.file.fileno()).st_size
        self.parse_header()
        self.parse_footer()
        schema = self.read(32, self.schema_bytes)
        index = self.read(self.index_offset, self.index_bytes)
        found = zlib.crc32(self.header + schema + index + self.footer[:32])
        need("F-6", found == self.crc32, "checksum of all that is not a block")
        self.parse_schema(schema)
        cursor, at = Cursor(index, "I-1"), 32 + self.schema_bytes
        for column in self.columns:
            column.parse_index(cursor)
            need("I-4", column.region_offset == at, "blocks overlap or leave gaps")
            at += column.region_bytes
            need("I-4", at <= self.index_offset, "blocks reach over the index")
        cursor.end()
        need("I-4", at == self.index_offset, "the blocks do not reach to the index")

    def read(self, offset, length):
        self.file.seek(offset)
        data = self.file.read(length)
        if len(data) != length:
            raise OSError(f"{length} bytes at {offset} cannot be read")
        return data

    def parse_header(self):
        self.header = self.read(0, min(32, self.length))
        need("H-2", len(self.header) < 8 or self.header[:8] == MAGIC, "not a table")
        need("H-1", self.length >= 80, f"{self.length} bytes are too few for a table")
        fields = struct.unpack("<8sHHHHQII", self.header)
        _, self.major, self.minor, needed, flags, self.positions, self.schema_bytes, crc = fields
        need("H-3", zlib.crc32(self.header[:28]) == crc, "checksum of the header")
        if self.major == 1:
            need("H-6", needed <= self.minor, "the least reader is newer than the file")
        if self.major != 1 or needed > 0:
            raise Unsupported(f"format {self.major}.{self.minor}, needs a reader of {needed}")
        if flags & 0xFF:
            raise Unsupported(f"header flags {flags:#x}")
        need("H-4", self.positions < 2**63, "too many positions")
        need("H-5", 80 + self.schema_bytes <= self.length, "the schema does not fit the file")

    def parse_footer(self):
        self.footer = self.read(self.length - 48, 48)
        fields = struct.unpack("<QQQIIII8s", self.footer)
        file_bytes, self.index_offset, self.index_bytes = fields[:3]
        self.content_crc32, zero, self.crc32, zero2, end = fields[3:]
        need("F-2", end == END_MAGIC, "no end mark: the file is truncated")
        need("F-3", file_bytes == self.length, f"{file_bytes} bytes stated, {self.length} found")
        need("F-4", zero == zero2 == 0, "reserved bytes of the footer are not zero")
        fits = self.index_offset >= 32 + self.schema_bytes
        fits = fits and self.index_offset + self.index_bytes + 48 == self.length
        need("F-5", fits, "the index does not fit the file")

    def parse_schema(self, schema):
        cursor = Cursor(schema, "S-1")
        self.properties = cursor.properties()
        self.numbering, self.numbering_version = cursor.name(), cursor.number(2)
        self.numbering_parameters = cursor.properties()
        self.columns = [Column(cursor) for _ in range(cursor.number(2))]
        cursor.end()
        need("S-5", 1 <= len(self.columns) <= 64, f"{len(self.columns)} columns")
        for column in self.columns:
            column.check(self.positions)
        width = sum(column.width for column in self.columns)
        need("S-8", width <= 65535, f"{width} values in a record")
        names = [column.name for column in self.columns]
        need("S-13", len(set(names)) == len(names), "a column's name twice")
        names = [field.name for column in self.columns for field in column.fields]
        need("S-13", len(set(names)) == len(names), "a field's name twice")
        length_of = NUMBERINGS.get((self.numbering, self.numbering_version))
        if length_of is None:
            raise Unsupported(f"numbering '{self.numbering}' version {self.numbering_version}")
        length = length_of(self.numbering_parameters)
        if (self.numbering, self.numbering_version) == ("kings", 1):
            self.numbering_of_kings = Kings(self.numbering_parameters)
        need("S-14", length == self.positions, f"{length} positions are numbered")
        for column in self.columns:
            if (column.codec, column.codec_version) not in CODECS:
                raise Unsupported(f"codec '{column.codec}' version {column.codec_version}")
            if column.order is not None:
                column.order = self.open_order(*column.order)
                stored = column.first, column.first + column.count
                need("N-3", column.order.range() == stored, "an order of other numbers")

    def open_order(self, name, parameters):
        orders = {"grouped": ("multiset", Grouped), "tiled": ("pair", Tiled)}
        if name not in orders:
            raise Unsupported(f"order '{name}' of numbering '{self.numbering}'")
        numbering, order = orders[name]
        need("N-3", self.numbering == numbering, f"an order of numbering '{self.numbering}'")
        points, chequers = (self.numbering_parameters[key] for key in ("points", "chequers"))
        return order(points, chequers, parameters)

    def describe(self, column, number):
        """What the numbering, or a column's order, tells of a record (small.md, section 7)."""
        if column.order is not None:
            return column.order.describe(number)
        describe = DESCRIPTIONS.get(self.numbering)
        if describe is None:
            return describe_flat(number)
        points, chequers = (self.numbering_parameters[key] for key in ("points", "chequers"))
        return describe(number, points, chequers)

    def block(self, column, block):
        """The records of a block, as lists of raw values."""
        start, end = column.offset(block), column.offset(block + 1)
        need("I-5", 0 <= start < end <= column.region_bytes, f"no place for block {block}")
        need("B-2", end - start >= 4, f"block {block} is too short")
        longest = 16 * column.width * column.block_positions + 1024
        need("B-8", end - start <= longest, f"block {block} is too long")
        stored = self.read(column.region_offset + start, end - start)
        payload, crc = stored[:-4], int.from_bytes(stored[-4:], "little")
        need("B-1", zlib.crc32(payload) == crc, f"checksum of block {block} of '{column.name}'")
        first, last = column.block_range(block)
        decode = CODECS[column.codec, column.codec_version]
        return decode(column, payload, last - first, first, self)

    def get(self, number):
        """The raw values of a record."""
        record = []
        for column in self.columns:
            if not column.first <= number < column.first + column.count:
                record += column.elsewhere
                continue
            row = column.row_of(number)
            block = column.block_of(row)
            start, _ = column.block_range(block)
            record += self.block(column, block)[row - start]
        return record

    def records(self):
        """All records in number order, each block decoded once."""
        held = [{} for _ in self.columns]
        for number in range(self.positions):
            record = []
            for i, column in enumerate(self.columns):
                if not column.first <= number < column.first + column.count:
                    record += column.elsewhere
                    continue
                row = column.row_of(number)
                block = column.block_of(row)
                if block not in held[i]:
                    # Without an order of its own a column's blocks are done with in turn.
                    if column.order is None:
                        held[i].clear()
                    held[i][block] = self.block(column, block)
                record += held[i][block][row - column.block_range(block)[0]]
            yield record

    def layout(self):
        return [field for column in self.columns for field in column.layout()]

    def canonical(self, record):
        """A record's canonical form (section 10)."""
        sizes = [value_bytes(field.bits) for field in self.layout()]
        return b"".join(v.to_bytes(n, "little") for v, n in zip(record, sizes))

    def check(self):
        """Reads everything that the constructor did not."""
        crc, layout = 0, self.layout()
        for number, record in enumerate(self.records()):
            for field, raw in zip(layout, record):
                inside = field.allows(raw)
                need("B-7", inside, f"field '{field.name}' of record {number} out of bounds")
            crc = zlib.crc32(self.canonical(record), crc)
        need("F-7", crc == self.content_crc32, "checksum of the content")


# --- The program -------------------------------------------------------------


def info(table):
    print(f"format          {table.major}.{table.minor}")
    print(f"positions       {table.positions}")
    print(f"file_bytes      {table.length}")
    print(f"content_crc32   {table.content_crc32:08x}")
    for key, value in table.properties.items():
        print(f"{key:<15} {value}")
    print(f"numbering       {table.numbering} {table.numbering_version} {table.numbering_parameters}")
    for column in table.columns:
        print(f"column          {column.name}: {column.count} from {column.first}, ", end="")
        print(f"{column.codec} {column.codec_version}, blocks of {column.block_positions}")
        for field in column.fields:
            kind = ("unsigned", "signed", "float")[field.kind]
            print(f"  field         {field.name}: {field.count} x {kind} of {field.bits} bits, ", end="")
            print(f"{field.minimum} to {field.maximum} {field.properties}")


def line(table, number, record):
    values = (field.value(raw) for field, raw in zip(table.layout(), record))
    return f"{number} " + " ".join(str(value) for value in values)


def main(arguments):
    verbs = {"info": 2, "check": 2, "dump": 2, "raw": 2, "get": 3}
    if len(arguments) < 2 or verbs.get(arguments[1]) != len(arguments):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        table, verb = Table(arguments[0]), arguments[1]
        if verb == "info":
            info(table)
        elif verb == "check":
            table.check()
            print(f"sound: {table.positions} positions, content {table.content_crc32:08x}")
        elif verb == "dump":
            for number, record in enumerate(table.records()):
                print(line(table, number, record))
        elif verb == "raw":
            for record in table.records():
                sys.stdout.buffer.write(table.canonical(record))
        else:
            number = int(arguments[2])
            if not 0 <= number < table.positions:
                raise ValueError(f"number {number} of 0 to {table.positions - 1}")
            print(line(table, number, table.get(number)))
    except (Corrupt, OSError) as error:
        print(f"{arguments[0]}: {error}", file=sys.stderr)
        return 1
    except (Unsupported, ImportError) as error:
        print(f"{arguments[0]}: {error}", file=sys.stderr)
        return 3
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

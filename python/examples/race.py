"""Two positions and a race, in pictures.

    python race.py [OUT.png]

Draws how many rolls two positions take, and the chance of winning a race by
the difference of pips. Without matplotlib it prints both instead.
"""

# %% A table: made once, found again later.
import sys
import tempfile
from pathlib import Path

import numpy as np

import endtable

path = Path(tempfile.gettempdir()) / "endtable-example-6.etb"
if not path.exists():
    endtable.make_bearoff(6, path)
table = endtable.Table.open(path)
tables = endtable.Tables([path])

# %% The distributions of two positions of 30 pips: one is smooth, one is not.
positions = {"5 on each of 1, 2, 3": [5, 5, 5], "5 on the six-point": [0, 0, 0, 0, 0, 5]}
distributions = {
    name: table.get(table.number(side))[table.fields["win"]] / 65535
    for name, side in positions.items()
}

# %% The chance of winning on roll, by the pips behind: random pairs of positions.
random = np.random.default_rng(7)
boards = np.zeros((20_000, 2, 25), dtype=np.uint8)
for side in range(2):
    for board in boards[:, side]:
        np.add.at(board, random.integers(0, 6, random.integers(4, 16)), 1)
seen = tables.evaluate_many(boards)
pips = boards @ np.arange(1, 26)
behind = pips[:, 0].astype(int) - pips[:, 1]
bins = np.arange(-20, 21)
win = np.array([seen["win"][behind == d].mean() for d in bins])

# %% Show it.
try:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
except ImportError:
    for name, chances in distributions.items():
        print(name, np.round(chances[:12], 3))
    for d, chance in zip(bins[::5], win[::5]):
        print(f"{d:+3d} pips: {chance:.3f}")
else:
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
    for name, chances in distributions.items():
        left.plot(chances[:14], marker="o", label=name)
    left.set(xlabel="rolls", ylabel="chance", title="Rolls to bear off")
    left.legend()
    right.plot(bins, win)
    right.axhline(0.5, color="grey", linewidth=0.5)
    right.set(xlabel="pips behind", ylabel="chance of winning on roll", title="A race")
    out = sys.argv[1] if len(sys.argv) > 1 else "race.png"
    figure.savefig(out)
    print("drawn:", out)

#!/usr/bin/env python3
"""Draws the plots of docs/rollouts.md from the tables in docs/data.

Standard library only; run it from the project's folder.
"""

import csv
import math
from pathlib import Path

DATA, OUT = Path("docs/data"), Path("docs")
WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 760, 300, 70, 60, 30
INK, COLOURS = "#333", ["#4477aa", "#cc6677", "#ddaa33", "#228833"]


def rows(name):
    with open(DATA / name, encoding="ascii") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def text(x, y, words, anchor="middle", turn=""):
    turned = f' transform="rotate({turn} {x} {y})"' if turn else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{turned}>{words}</text>'


def frame(title, y_label, ticks, y_of):
    out = [text(WIDTH / 2, 18, title), text(16, HEIGHT / 2, y_label, turn="-90")]
    for value in ticks:
        y = y_of(value)
        out.append(f'<line x1="{LEFT}" x2="{WIDTH - 10}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        out.append(text(LEFT - 6, y + 4, f"{value:g}", "end"))
    return out


def write(name, parts):
    body = "\n".join(parts)
    (OUT / name).write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="sans-serif" font-size="12" fill="{INK}">\n'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>\n{body}\n</svg>\n',
        encoding="ascii",
    )


def scale(low, high):
    def y_of(value):
        return HEIGHT - BOTTOM - (value - low) / (high - low) * (HEIGHT - BOTTOM - TOP)

    return y_of


def curve():
    points = [(float(r["games"]), float(r["loss_per_move"])) for r in rows("training-curve.tsv")]
    points = [(games, loss) for games, loss in points if games >= 10000]
    low, high = math.log10(10000), math.log10(max(g for g, _ in points) * 1.05)
    y_of = scale(0.0, 0.03)
    x_of = lambda games: LEFT + (math.log10(games) - low) / (high - low) * (WIDTH - LEFT - 20)
    parts = frame("Loss per move against gnubg 2-ply", "points", [0, 0.005, 0.01, 0.015, 0.02, 0.025, 0.03], y_of)
    for games in (10000, 30000, 100000, 300000, 600000):
        if math.log10(games) <= high:
            parts.append(text(x_of(games), HEIGHT - BOTTOM + 18, f"{games:,}"))
    parts.append(text(WIDTH / 2, HEIGHT - 14, "games of self-play"))
    path = " ".join(f"{x_of(g):.1f},{y_of(min(v, 0.03)):.1f}" for g, v in points)
    parts.append(f'<polyline points="{path}" fill="none" stroke="{COLOURS[0]}" stroke-width="2"/>')
    write("training-curve.svg", parts)


def bars(name, title, label, column, ticks):
    table = rows("allocation.tsv")
    budgets = sorted({int(r["games"]) for r in table})
    rules = list(dict.fromkeys(r["rule"] for r in table))
    y_of = scale(ticks[0], ticks[-1])
    parts = frame(title, label, ticks, y_of)
    slot = (WIDTH - LEFT - 20) / len(rules)
    bar = slot * 0.8 / len(budgets)
    for i, rule in enumerate(rules):
        for k, budget in enumerate(budgets):
            found = next(r for r in table if r["rule"] == rule and int(r["games"]) == budget)
            x, y = LEFT + i * slot + slot * 0.1 + k * bar, y_of(float(found[column]))
            parts.append(
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{bar - 1:.1f}" '
                f'height="{HEIGHT - BOTTOM - y:.1f}" fill="{COLOURS[k]}"/>'
            )
        parts.append(text(LEFT + (i + 0.5) * slot, HEIGHT - BOTTOM + 18, rule))
    for k, budget in enumerate(budgets):
        x = LEFT + k * 150
        parts.append(f'<rect x="{x}" y="{HEIGHT - 24}" width="10" height="10" fill="{COLOURS[k]}"/>')
        parts.append(text(x + 15, HEIGHT - 15, f"{budget} games a play", "start"))
    write(name, parts)


if __name__ == "__main__":
    curve()
    bars("allocation-loss.svg", "Mean loss of the play chosen", "points", "mean_loss", [0, 0.0005, 0.001, 0.0015, 0.002, 0.0025, 0.003])
    bars("allocation-error.svg", "Largest standard error of a play", "points", "largest_se", [0, 0.01, 0.02, 0.03, 0.04])

#!/usr/bin/env python3
"""Decisions judged by gnubg's evaluator at 2-ply, for `train_network --judge`.

Needs `pip install gnubg-nn`. Games are played by that evaluator at 0-ply; three
in ten of their unforced decisions are kept. Of each the two plays that are best
at 0-ply and up to eight more within 0.16 are judged at 2-ply.

    judge_decisions.py 2500 decisions.jsonl
"""

import json
import random
import sys

import gnubg_nn

START = "4HPwATDgc/ABMA"
SHARE, MOST, NEAR = 0.3, 10, 0.16


def equity(chances):
    """Cubeless money equity of (win, win gammon, win bg, lose gammon, lose bg)."""
    win, win_gammon, win_bg, lose_gammon, lose_bg = chances
    return 2 * win - 1 + win_gammon + win_bg - lose_gammon - lose_bg


def plain(board):
    """Both sides as lists: the side not on roll, then the side on roll."""
    return [list(map(int, side)) for side in board]


def judged(plays):
    """Each play as [board after it, 0-ply equity, 2-ply equity or None]."""
    out = []
    for rank, play in enumerate(plays):
        after, quick = plain(gnubg_nn.board_from_position_key(play[0])), play[-1]
        deep = None
        if rank < 2 or (rank < MOST and plays[0][-1] - quick < NEAR):
            over = sum(after[0]) == 0
            deep = quick if over else -equity(gnubg_nn.probabilities(after, 2))
        out.append([after, quick, deep])
    return out


def main(count, path):
    random.seed(11)
    kept = 0
    with open(path, "w", encoding="ascii") as out:
        while kept < count:
            board, first = plain(gnubg_nn.board_from_position_id(START)), True
            while sum(board[0]) and sum(board[1]):
                dice = random.randint(1, 6), random.randint(1, 6)
                if first and dice[0] == dice[1]:
                    continue
                first = False
                plays = gnubg_nn.best_move(board, *dice, n=0, b=1, list=1)[2]
                if len(plays) > 1 and random.random() < SHARE and kept < count:
                    record = {"board": board, "dice": dice, "plays": judged(plays)}
                    out.write(json.dumps(record) + "\n")
                    kept += 1
                key = plays[0][0] if plays else None
                board = plain(gnubg_nn.board_from_position_key(key)) if key else board[::-1]


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])

#!/usr/bin/env python3
"""Compares `endtable eval --json` with python-chess on random positions.

Legality, checkmate and stalemate, the set of legal moves, and that each best
move keeps the distance. Needs `pip install chess` and a folder of tables.

    chess_check.py ENDTABLE DIR [COUNT]
"""

import json
import pathlib
import random
import subprocess
import sys

import chess


# Positions that no game can reach are positions all the same.
UNREACHABLE = chess.STATUS_TOO_MANY_CHECKERS | chess.STATUS_IMPOSSIBLE_CHECK


def random_position(rng, endings):
    """A random board of one of the endings; legal or not."""
    white, black = rng.choice(endings).split("v")
    if rng.random() < 0.5:
        white, black = black, white
    board = chess.Board(None)
    squares = rng.sample(range(64), len(white) + len(black))
    for letter in white:
        board.set_piece_at(squares.pop(), chess.Piece.from_symbol(letter))
    for letter in black:
        board.set_piece_at(squares.pop(), chess.Piece.from_symbol(letter.lower()))
    board.turn = rng.random() < 0.5
    if rng.random() < 0.2:
        board.ep_square = rng.choice(range(16, 24) if not board.turn else range(40, 48))
    return board


def main():
    program, folder = sys.argv[1:3]
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 10_000
    endings = sorted(p.stem for p in pathlib.Path(folder).glob("K*vK*.etb"))
    rng = random.Random(2002)
    boards = [random_position(rng, endings) for _ in range(count)]
    fens = [b.fen(en_passant="fen") for b in boards]
    done = subprocess.run(
        [program, "eval", "--tables", folder, "--json", "-"],
        input="\n".join(fens) + "\n",
        capture_output=True,
        text=True,
    )
    lines = done.stdout.splitlines()
    assert len(lines) == count, (len(lines), done.stderr)
    legal = mates = 0
    for fen, board, line in zip(fens, boards, lines):
        answer = json.loads(line)
        if not board.status() & ~UNREACHABLE:
            legal += 1
            assert "error" not in answer, (fen, answer)
            moves = {m["move"]: m for m in answer["moves"]}
            assert set(moves) == {m.uci() for m in board.legal_moves}, fen
            plies = answer["dtm_plies"]
            assert (plies == 0) == board.is_checkmate(), fen
            mates += board.is_checkmate()
            if board.is_stalemate():
                assert answer["result"] == "draw", fen
            for name in answer["best_moves"]:
                board.push_uci(name)
                assert (abs(plies or 0) == 1) == board.is_checkmate(), (fen, name)
                board.pop()
        else:
            assert "illegal" in answer.get("error", ""), (fen, answer)
    print(f"{count} positions: {legal} legal, {mates} mates, all agreed")


if __name__ == "__main__":
    main()

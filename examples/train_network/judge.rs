//! The average loss per move against the judgement of a strong engine.
//!
//! The judgements come from `scripts/judge_decisions.py`, one JSON object a
//! line: `board` (the side not on roll, the side on roll), `dice`, and
//! `plays`, each the board after it, the engine's quick equity and its deep
//! one (or null for plays that the quick one leaves far behind).

use std::fs;

use endtable::bearoff::plays::Plays;
use endtable::bearoff::{Board, Points};
use serde_json::Value;

/// One decision with the equity of each play.
pub(crate) struct Decision {
    board: Board,
    dice: [u8; 2],
    plays: Vec<(Board, f32)>,
}

/// Reads a file of judged decisions.
pub(crate) fn read(path: &str) -> Vec<Decision> {
    let text = fs::read_to_string(path).expect("a readable file of decisions");
    text.lines()
        .map(|line| decision(&serde_json::from_str(line).expect("a JSON object a line")))
        .collect()
}

fn decision(value: &Value) -> Decision {
    let number = |v: &Value| v.as_f64().map(|x| x as f32);
    let die = |i: usize| value["dice"][i].as_u64().expect("a die") as u8;
    let listed = value["plays"].as_array().expect("a list of plays");
    let best_quick = number(&listed[0][1]).expect("a quick equity");
    let best_deep = number(&listed[0][2]).expect("a deep equity of the first play");
    let plays = listed
        .iter()
        .map(|play| {
            let quick = number(&play[1]).expect("a quick equity");
            (
                board(&play[0]),
                number(&play[2]).unwrap_or(best_deep + quick - best_quick),
            )
        })
        .collect();
    Decision {
        board: board(&value["board"]),
        dice: [die(0), die(1)],
        plays,
    }
}

fn board(value: &Value) -> Board {
    let side = |i: usize| -> Points {
        std::array::from_fn(|k| value[i][k].as_u64().expect("a number of chequers") as u8)
    };
    Board::new(side(1), side(0)).expect("a possible board")
}

/// Mean loss per decision of the player who picks the play with the highest
/// `equity` (of the side that made it, from the board after it).
pub(crate) fn mean_loss(decisions: &[Decision], equity: impl Fn(&Board) -> f32) -> f32 {
    let mut plays = Plays::new();
    let total: f64 = decisions
        .iter()
        .map(|decision| {
            let legal = plays.generate(&decision.board, decision.dice);
            let chosen = legal
                .iter()
                .max_by(|a, b| equity(a.next()).total_cmp(&equity(b.next())))
                .expect("a decision has plays");
            let judged = decision
                .plays
                .iter()
                .find(|(after, _)| after == chosen.next())
                .expect("the same legal plays")
                .1;
            let best = decision.plays.iter().map(|p| p.1).fold(f32::MIN, f32::max);
            f64::from(best - judged)
        })
        .sum();
    (total / decisions.len() as f64) as f32
}

//! What is compared: the plays that the call names, or those that look best.

use endtable::bearoff::position::{Position, parse_dice};
use endtable::bearoff::{Plays, play_notation};
use endtable::rollout::Player;
use endtable::rollout::backgammon::Choice;
use endtable::rollout::stakes::Stakes;
use endtable::{Error, Result};

use super::settings::Settings;

/// The plays that the settings name, else at most `at_most` plays that look
/// best before any game; the position itself, if there is no roll.
pub(super) fn of(
    settings: &Settings,
    position: &Position,
    player: &Player,
    stakes: &Stakes,
    at_most: u16,
) -> Result<Vec<Choice>> {
    let Some(roll) = &settings.roll else {
        return Ok(vec![Choice {
            name: "before the roll".to_owned(),
            board: position.board,
            own_roll: true,
        }]);
    };
    let dice = parse_dice(roll)?;
    if Plays::new().generate(&position.board, dice).is_empty() {
        return Ok(vec![Choice {
            name: "pass".to_owned(),
            board: position.board.swapped(),
            own_roll: false,
        }]);
    }
    match &settings.plays {
        Some(names) => named(position, dice, names),
        None => plausible(position, dice, player, stakes, at_most),
    }
}

fn named(position: &Position, dice: [u8; 2], names: &[String]) -> Result<Vec<Choice>> {
    let mut plays = Plays::new();
    let legal = plays.generate(&position.board, dice);
    let mut choices: Vec<Choice> = Vec::new();
    for name in names {
        let play = play_notation::find(name, &position.board, dice, legal)?;
        let name = play_notation::format(&position.board, play);
        if choices.iter().any(|c| c.board == *play.next()) {
            return Err(Error::invalid(format!("--plays: `{name}` is given twice")));
        }
        choices.push(Choice {
            name,
            board: *play.next(),
            own_roll: false,
        });
    }
    match choices.is_empty() {
        true => Err(Error::invalid("--plays names no play")),
        false => Ok(choices),
    }
}

fn plausible(
    position: &Position,
    dice: [u8; 2],
    player: &Player,
    stakes: &Stakes,
    at_most: u16,
) -> Result<Vec<Choice>> {
    let mut plays = Plays::new();
    let legal = plays.generate(&position.board, dice);
    let boards: Vec<_> = legal.iter().map(|play| *play.next()).collect();
    let mut scratch = Default::default();
    player.evaluate(&boards, &mut scratch)?;
    let mut order: Vec<(usize, f32)> = scratch
        .out
        .iter()
        .map(|chances| stakes.equity(&chances.flipped()))
        .enumerate()
        .collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1));
    order.truncate(usize::from(at_most));
    Ok(order
        .into_iter()
        .map(|(i, _)| Choice {
            name: play_notation::format(&position.board, &legal[i]),
            board: boards[i],
            own_roll: false,
        })
        .collect())
}

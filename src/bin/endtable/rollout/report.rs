//! What a rollout has found, as people and as programs read it.

use endtable::bearoff::{Position, xgid};
use endtable::rollout::backgammon::{Choice, Game, Summary};
use endtable::rollout::schedule::Ending;
use endtable::rollout::{End, Player};
use serde_json::{Value, json};

use super::settings::Settings;

/// The chances in the order of their worth to a reader: where there is no
/// room for all, the last ones are left out.
const CHANCES: [(&str, usize); 5] = [
    ("win", 0),
    ("gammon", 1),
    ("lose g", 3),
    ("bg", 2),
    ("lose b", 4),
];

/// One line for each play, below a heading, in lines of at most `width`
/// columns if that can be.
pub(super) fn table(choices: &[Choice], rows: &[Summary], width: usize) -> Vec<String> {
    let name = choices.iter().map(|c| c.name.len()).fold(4, usize::max);
    let heading = format!(
        "{:name$} {:>7} {:>16} {:>15}",
        "play", "games", "equity", "behind"
    );
    let room = width.saturating_sub(heading.len()) / CHANCE_WIDTH;
    let chances = &CHANCES[..room.min(CHANCES.len())];
    let cells = |of: &dyn Fn(&(&str, usize)) -> String| -> String {
        let cell = |c| format!("{:>CHANCE_WIDTH$}", of(c));
        chances.iter().map(cell).collect()
    };
    let mut lines = vec![heading + &cells(&|(title, _)| (*title).to_owned())];
    for row in rows {
        let name = format!("{:name$} {:>7}", choices[row.choice].name, row.games);
        if row.games == 0 {
            lines.push(name);
            continue;
        }
        let error = row
            .equity_error
            .map_or_else(|| "?".to_owned(), |e| format!("{e:.4}"));
        let behind = match row.behind_error {
            None if row.behind == 0.0 => String::new(),
            None => format!("{:.4}", row.behind),
            Some(error) => format!("{:.4} ± {error:.4}", row.behind),
        };
        let equity = format!("{:+.4} ± {error}", row.equity);
        let chances = cells(&|&(_, k)| format!("{:.2}", 100.0 * row.chances[k]));
        lines.push(format!("{name} {equity:>16} {behind:>15}{chances}"));
    }
    lines
}

const CHANCE_WIDTH: usize = 7;

/// How many games each thing ended that ended any.
fn ends(games: &[Vec<Game>], player: &Player) -> Vec<(String, u64)> {
    let names = player.table_names();
    let name = |end: End| match end {
        End::Played => "the last chequer".to_owned(),
        End::CutOff => "truncation".to_owned(),
        End::Table(number) => names
            .get(usize::from(number))
            .cloned()
            .unwrap_or_else(|| "a table that is no longer there".to_owned()),
    };
    let mut ended: Vec<End> = games.iter().flatten().map(|game| game.end).collect();
    ended.sort();
    let same = ended.chunk_by(|a, b| a == b);
    same.map(|part| (name(part[0]), part.len() as u64))
        .collect()
}

/// What ended the games, for people.
pub(super) fn ended_by(games: &[Vec<Game>], player: &Player) -> Vec<String> {
    let line = |(name, count)| format!("{count} games ended by {name}");
    ends(games, player).into_iter().map(line).collect()
}

/// Why the rollout is shorter than it was to be.
pub(super) fn note(ending: Ending) -> Option<&'static str> {
    match ending {
        Ending::Finished => None,
        Ending::Interrupted => Some("interrupted: what was known by then"),
        Ending::OutOfTime => Some("the time is up"),
    }
}

/// Everything, for programs.
pub(super) fn object(
    position: &Position,
    settings: &Settings,
    choices: &[Choice],
    rows: &[Summary],
    games: &[Vec<Game>],
    ending: Ending,
    player: &Player,
) -> Value {
    let ends = ends(games, player).into_iter();
    json!({
        "position": xgid::format(position),
        "roll": settings.roll,
        "seed": settings.seed,
        "allocate": settings.allocate,
        "batch": settings.batch,
        "evaluators": player.names(),
        "games_ended": ends.map(|(by, games)| json!({ "by": by, "games": games })).collect::<Vec<_>>(),
        "ending": match ending {
            Ending::Finished => "finished",
            Ending::Interrupted => "interrupted",
            Ending::OutOfTime => "out of time",
        },
        "plays": rows.iter().map(|row| play(&choices[row.choice].name, row)).collect::<Vec<_>>(),
    })
}

fn play(name: &str, row: &Summary) -> Value {
    let [
        win,
        win_gammon,
        win_backgammon,
        lose_gammon,
        lose_backgammon,
    ] = row.chances;
    json!({
        "play": name,
        "games": row.games,
        "equity": row.equity,
        "equity_se": row.equity_error,
        "equity_half_width_95": row.half_width_95,
        "win": win,
        "win_gammon": win_gammon,
        "win_backgammon": win_backgammon,
        "lose_gammon": lose_gammon,
        "lose_backgammon": lose_backgammon,
        "behind": row.behind,
        "behind_se": row.behind_error,
    })
}

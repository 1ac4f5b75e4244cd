//! The table that is drawn again and again on a terminal while games are
//! played.

use std::time::{Duration, Instant};

use console::Term;
use endtable::rollout::allocate::{Budget, Candidate, Plan};
use endtable::rollout::backgammon::{Choice, Game, summaries};
use indicatif::HumanDuration;

use super::report;

/// Clears the rest of the line and goes to the next.
const CLEAR_BEHIND: &str = "\x1b[K\n";

pub(super) struct Live<'a> {
    choices: &'a [Choice],
    budget: Budget,
    /// Standard error, if it is a terminal that is to show anything.
    terminal: Option<Term>,
    /// Lines that are on the screen. The cursor stands below them, so that the
    /// `^C` that a terminal writes for Ctrl-C moves nothing.
    lines: usize,
    start: Instant,
    /// Games of an earlier run, which take no time.
    known: u64,
}

impl<'a> Live<'a> {
    pub(super) fn new(
        quiet: bool,
        choices: &'a [Choice],
        plan: &Plan,
        known: &[Vec<Game>],
    ) -> Self {
        let terminal = Term::buffered_stderr();
        Live {
            choices,
            budget: plan.budget,
            terminal: (!quiet && terminal.is_term()).then_some(terminal),
            lines: 0,
            start: Instant::now(),
            known: games_in(known),
        }
    }

    /// Draws what is known. A terminal that takes no more text is no reason to
    /// end the rollout.
    pub(super) fn show(&mut self, candidates: &[Candidate], games: &[Vec<Game>]) {
        let Some(terminal) = &self.terminal else {
            return;
        };
        let width = usize::from(terminal.size().1);
        let mut lines = report::table(self.choices, &summaries(candidates, games), width);
        lines.push(self.progress(games));
        // The echo of Ctrl-C may have moved the cursor from the first column.
        let _ = terminal.write_str("\r");
        let _ = terminal.move_cursor_up(self.lines);
        for line in &lines {
            // Written over what is there and cleared behind it: nothing flickers.
            let _ = terminal.write_str(&console::truncate_str(line, width, "…"));
            let _ = terminal.write_str(CLEAR_BEHIND);
        }
        let _ = terminal.clear_to_end_of_screen();
        let _ = terminal.flush();
        self.lines = lines.len();
    }

    fn progress(&self, games: &[Vec<Game>]) -> String {
        let done = games_in(games);
        let played = done.saturating_sub(self.known);
        if played == 0 {
            return format!("{done} games");
        }
        let rate = played as f64 / self.start.elapsed().as_secs_f64().max(1e-9);
        let left = Duration::try_from_secs_f64(self.games_left(games) / rate).unwrap_or_default();
        // A stop rule may end the work earlier; the budget is all that is certain.
        format!(
            "{done} games, {rate:.0} a second, at most {:#} left",
            HumanDuration(left)
        )
    }

    /// Games that the budget still allows, at most.
    fn games_left(&self, games: &[Vec<Game>]) -> f64 {
        let left = |of: &Vec<Game>, n: u64| n.saturating_sub(of.len() as u64);
        match self.budget {
            Budget::Average(n) => (n * games.len() as u64).saturating_sub(games_in(games)) as f64,
            Budget::Maximum(n) => games.iter().map(|of| left(of, n)).sum::<u64>() as f64,
            // The others go on getting what they got beside the first.
            Budget::First(n) => match games.first() {
                Some(first) => {
                    left(first, n) as f64 * games_in(games) as f64 / first.len().max(1) as f64
                }
                None => 0.0,
            },
        }
    }

    /// Takes the table off the screen.
    pub(super) fn clear(&mut self) {
        if let Some(terminal) = &self.terminal {
            let _ = terminal.move_cursor_up(self.lines);
            let _ = terminal.clear_to_end_of_screen();
            let _ = terminal.flush();
            self.lines = 0;
        }
    }
}

fn games_in(games: &[Vec<Game>]) -> u64 {
    games.iter().map(|of| of.len() as u64).sum()
}

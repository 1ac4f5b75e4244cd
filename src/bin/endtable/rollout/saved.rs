//! Saved rollouts: their settings and every game, as JSON.

use std::path::Path;

use endtable::bearoff::Position;
use endtable::rollout::backgammon::Game;
use endtable::rollout::{Chances, End};
use endtable::{Error, Result};
use serde::{Deserialize, Serialize};

use super::settings::Settings;

/// The file.
#[derive(Serialize, Deserialize)]
pub(crate) struct Saved {
    format: String,
    settings: Settings,
    /// For each play its games: five chances, and what ended the game as
    /// [`end_number`] has it.
    games: Vec<Vec<([f32; 5], u16)>>,
}

/// 0 for the last chequer, 1 for a game that was cut off, 2 and more for the
/// player's tables.
fn end_number(end: End) -> u16 {
    match end {
        End::Played => 0,
        End::CutOff => 1,
        End::Table(number) => number.saturating_add(2),
    }
}

fn end_of(number: u16) -> End {
    match number {
        0 => End::Played,
        1 => End::CutOff,
        table => End::Table(table - 2),
    }
}

const FORMAT: &str = "endtable rollout 1";

impl Saved {
    pub(crate) fn new(settings: Settings, games: &[Vec<Game>]) -> Self {
        let plain = |game: &Game| (game.chances, end_number(game.end));
        let games = games
            .iter()
            .map(|games| games.iter().map(plain).collect())
            .collect();
        Saved {
            format: FORMAT.to_owned(),
            settings,
            games,
        }
    }

    pub(crate) fn read(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path)
            .map_err(|e| Error::io("read the saved rollout", e).in_file(path))?;
        let saved: Saved = serde_json::from_slice(&bytes).map_err(|e| {
            Error::corrupt("saved rollout", format!("not a saved rollout: {e}")).in_file(path)
        })?;
        if saved.format != FORMAT {
            let message = format!(
                "saved as `{}`, this version reads `{FORMAT}`",
                saved.format.escape_debug()
            );
            return Err(Error::unsupported(message).in_file(path));
        }
        Ok(saved)
    }

    /// Written beside and moved into place, so that an earlier file survives a fault.
    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let folder = path
            .parent()
            .filter(|p| !p.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        let fault = |e| Error::io("save the rollout", e).in_file(path);
        let file = tempfile::NamedTempFile::new_in(folder).map_err(fault)?;
        serde_json::to_writer(std::io::BufWriter::new(&file), self).map_err(|e| fault(e.into()))?;
        file.persist(path).map_err(|e| fault(e.error))?;
        Ok(())
    }

    /// Settings and games; the equity of each game follows from its chances.
    pub(crate) fn take_apart(self) -> Result<(Settings, Vec<Vec<Game>>)> {
        let stakes = self
            .settings
            .stakes(&Position::parse(&self.settings.position)?)?;
        let game = |(chances, end): ([f32; 5], u16)| Game {
            chances,
            equity: stakes.equity(&Chances::from_array(chances)),
            end: end_of(end),
        };
        let games = self
            .games
            .into_iter()
            .map(|games| games.into_iter().map(game).collect())
            .collect();
        Ok((self.settings, games))
    }
}

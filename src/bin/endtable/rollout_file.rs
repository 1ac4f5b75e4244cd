//! Saved rollouts: their settings and every game, as JSON.

use std::path::Path;

use endtable::bearoff::Position;
use endtable::rollout::Chances;
use endtable::rollout::backgammon::Game;
use endtable::{Error, Result};
use serde::{Deserialize, Serialize};

/// What a rollout was started with; a continued one takes it over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Settings {
    pub(crate) position: String,
    pub(crate) roll: Option<String>,
    pub(crate) plays: Option<Vec<String>>,
    pub(crate) seed: u64,
    pub(crate) stratify: String,
    pub(crate) luck_adjusted: bool,
    pub(crate) truncate: Option<u32>,
    /// Files; `None` for no table at all, not even the computed one.
    pub(crate) tables: Option<Vec<String>>,
    pub(crate) external: Option<String>,
    pub(crate) match_table: Option<String>,
    pub(crate) allocate: String,
    pub(crate) batch: u64,
}

/// The file.
#[derive(Serialize, Deserialize)]
pub(crate) struct Saved {
    format: String,
    settings: Settings,
    /// For each play its games, each as five chances.
    games: Vec<Vec<[f32; 5]>>,
}

const FORMAT: &str = "endtable rollout 1";

impl Saved {
    pub(crate) fn new(settings: Settings, games: &[Vec<Game>]) -> Self {
        let games = games
            .iter()
            .map(|games| games.iter().map(|game| game.chances).collect())
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
        let game = |chances: [f32; 5]| Game {
            chances,
            equity: stakes.equity(&Chances::from_array(chances)),
        };
        let games = self
            .games
            .into_iter()
            .map(|games| games.into_iter().map(game).collect())
            .collect();
        Ok((self.settings, games))
    }
}

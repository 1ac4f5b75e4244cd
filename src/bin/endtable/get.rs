//! `endtable get`
use crate::common::{Outcome, Ran};
use clap::Args;
/// todo
#[derive(Args)]
pub(crate) struct Arguments {}
pub(crate) fn run(_arguments: &Arguments) -> Ran {
    Ok(Outcome::Done)
}

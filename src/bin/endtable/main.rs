//! The program `endtable`: arguments, errors and exit codes; one file a verb.

mod bench;
mod bench_chess;
mod bench_memory;
mod chess;
mod common;
mod compare;
mod eval;
mod get;
mod info;
mod machine;
mod make;
mod making;
mod named_tables;
mod rollout;
mod stats;
mod tables;
mod transcode;
mod verify;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use common::{Failure, Outcome};

/// Solved game endings in small files that are read at random.
#[derive(Parser)]
#[command(name = "endtable", version, max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 done, 1 the data is bad or differs, 2 the call is wrong, 130 interrupted."
)]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Make(make::Arguments),
    Transcode(transcode::Arguments),
    Info(info::Arguments),
    Get(get::Arguments),
    Stats(stats::Arguments),
    Verify(verify::Arguments),
    Compare(compare::Arguments),
    Bench(bench::Arguments),
    Eval(eval::Arguments),
    Tables(tables::Arguments),
    Rollout(Box<rollout::Arguments>),
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().verb {
        Verb::Make(arguments) => make::run(&arguments),
        Verb::Transcode(arguments) => transcode::run(&arguments),
        Verb::Info(arguments) => info::run(&arguments),
        Verb::Get(arguments) => get::run(&arguments),
        Verb::Stats(arguments) => stats::run(&arguments),
        Verb::Verify(arguments) => verify::run(&arguments),
        Verb::Compare(arguments) => compare::run(&arguments),
        Verb::Bench(arguments) => bench::run(&arguments),
        Verb::Eval(arguments) => eval::run(&arguments),
        Verb::Tables(arguments) => tables::run(&arguments),
        Verb::Rollout(arguments) => rollout::run(&arguments),
    };
    match outcome {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Differs) => ExitCode::from(1),
        Ok(Outcome::Interrupted) => ExitCode::from(common::INTERRUPTED),
        // Whoever reads our output has heard enough, as with `| head`.
        Err(Failure::ClosedPipe) => ExitCode::SUCCESS,
        Err(Failure::Error(error)) => {
            eprintln!("endtable: {error}");
            ExitCode::from(common::exit_code(&error))
        }
    }
}

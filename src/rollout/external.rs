//! Another program as evaluator, over JSON lines.
//!
//! The program is started once. For each group of boards it gets one line on
//! its standard input,
//!
//! ```text
//! {"id":7,"boards":[{"on_roll":[0,…],"opponent":[0,…]},…]}
//! ```
//!
//! and answers with one line on its standard output,
//!
//! ```text
//! {"id":7,"chances":[[0.52,0.15,0.01,0.13,0.01],…]}
//! ```
//!
//! The 25 numbers of a side are its chequers on its own points 1 to 24 and on
//! its bar. The five chances are those of the side on roll, before it rolls:
//! to win, to win a gammon or more, to win a backgammon, to lose a gammon or
//! more, to lose a backgammon. `{"id":7,"error":"…"}` ends the rollout with
//! that message. Its standard error is left to the user. At the end its input
//! is closed, and it is waited for.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;

use serde::{Deserialize, Serialize};

use super::{Chances, Evaluator};
use crate::bearoff::{Board, Points};
use crate::{Error, Result};

/// An evaluator that runs in another process; threads take turns.
pub struct External {
    command: String,
    pipes: Mutex<Pipes>,
}

struct Pipes {
    child: Child,
    /// Taken when the evaluator is dropped, which tells the program to end.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next_id: u64,
}

#[derive(Serialize)]
struct Question<'a> {
    id: u64,
    boards: Vec<Seen<'a>>,
}

#[derive(Serialize)]
struct Seen<'a> {
    on_roll: &'a Points,
    opponent: &'a Points,
}

#[derive(Deserialize)]
struct Answer {
    id: u64,
    #[serde(default)]
    chances: Vec<[f32; 5]>,
    error: Option<String>,
}

impl External {
    /// Starts `command`: a program and its arguments, separated by spaces.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it is empty, [`Error::Io`] if it cannot be started.
    pub fn start(command: &str) -> Result<Self> {
        let mut words = command.split_whitespace();
        let program = words
            .next()
            .ok_or_else(|| Error::invalid("the command of the external evaluator is empty"))?;
        let mut started = Command::new(program);
        started
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        // Ctrl-C is for us: what it ends is the rollout, whose games under way
        // still want answers.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut started, 0);
        let mut child = started
            .spawn()
            .map_err(|e| Error::io(format!("start `{command}`"), e))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Error::invalid(format!(
                "`{command}` has no standard input and output"
            )));
        };
        let pipes = Pipes {
            child,
            input: Some(input),
            output: BufReader::new(output),
            next_id: 0,
        };
        Ok(External {
            command: command.to_owned(),
            pipes: Mutex::new(pipes),
        })
    }

    fn fault(&self, what: impl std::fmt::Display) -> Error {
        Error::io(
            format!("evaluate with `{}`", self.command),
            io::Error::other(what.to_string()),
        )
    }
}

impl Evaluator for External {
    fn name(&self) -> String {
        format!("`{}`", self.command)
    }

    fn evaluate(&self, boards: &[Board], out: &mut [Chances]) -> Result<()> {
        let mut pipes = self.pipes.lock().unwrap_or_else(|e| e.into_inner());
        let id = pipes.next_id;
        pipes.next_id += 1;
        let boards = boards
            .iter()
            .map(|board| Seen {
                on_roll: board.on_roll(),
                opponent: board.opponent(),
            })
            .collect();
        let mut line =
            serde_json::to_string(&Question { id, boards }).map_err(|e| self.fault(e))?;
        line.push('\n');
        let input = pipes
            .input
            .as_mut()
            .ok_or_else(|| self.fault("its input is closed"))?;
        input
            .write_all(line.as_bytes())
            .and_then(|()| input.flush())
            .map_err(|e| match e.kind() {
                io::ErrorKind::BrokenPipe => self.fault("it ended without an answer"),
                _ => Error::io(format!("write to `{}`", self.command), e),
            })?;
        line.clear();
        let read = pipes.output.read_line(&mut line);
        if read.map_err(|e| Error::io(format!("read from `{}`", self.command), e))? == 0 {
            return Err(self.fault("it ended without an answer"));
        }
        let answer: Answer = serde_json::from_str(&line)
            .map_err(|e| self.fault(format!("its answer is not understood: {e}")))?;
        if let Some(error) = answer.error {
            return Err(self.fault(error));
        }
        if answer.id != id || answer.chances.len() != out.len() {
            return Err(self.fault(format!(
                "asked for {} boards as number {id}, got {} as number {}",
                out.len(),
                answer.chances.len(),
                answer.id
            )));
        }
        for (chances, numbers) in out.iter_mut().zip(answer.chances) {
            *chances = Chances::from_array(numbers);
        }
        Ok(())
    }
}

impl Drop for External {
    fn drop(&mut self) {
        let pipes = self.pipes.get_mut().unwrap_or_else(|e| e.into_inner());
        drop(pipes.input.take());
        // A program that doesn't end at the end of its input is not ours to judge here.
        let _ = pipes.child.wait();
    }
}

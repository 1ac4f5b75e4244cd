//! The live table of `endtable rollout` on a terminal: what is on the screen
//! while it runs and what is left of it after Ctrl-C.
#![cfg(target_os = "linux")]

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

const WIDTH: usize = 80;

/// A terminal that knows what the live table uses: text, new lines, cursor up,
/// clear to the end of the line and of the screen.
struct Screen {
    lines: Vec<Vec<char>>,
    row: usize,
    column: usize,
    pending: Vec<u8>,
}

impl Screen {
    fn new() -> Self {
        Screen {
            lines: vec![Vec::new()],
            row: 0,
            column: 0,
            pending: Vec::new(),
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        self.pending.extend(bytes);
        let text = match std::str::from_utf8(&self.pending) {
            Ok(text) => text.to_owned(),
            Err(cut) => String::from_utf8_lossy(&self.pending[..cut.valid_up_to()]).into_owned(),
        };
        let mut rest = text.as_str();
        while let Some(c) = rest.chars().next() {
            if c == '\x1b' {
                let Some(end) = rest[1..].find(|c: char| c.is_ascii_alphabetic()) else {
                    break;
                };
                self.command(&rest[2..=end], rest.as_bytes()[end + 1]);
                rest = &rest[end + 2..];
                continue;
            }
            rest = &rest[c.len_utf8()..];
            match c {
                '\r' => self.column = 0,
                '\n' => self.down(),
                _ => self.put(c),
            }
        }
        let left = text.len() - rest.len();
        self.pending.drain(..left);
    }

    fn put(&mut self, c: char) {
        if self.column == WIDTH {
            self.column = 0;
            self.down();
        }
        let line = &mut self.lines[self.row];
        line.resize(line.len().max(self.column + 1), ' ');
        line[self.column] = c;
        self.column += 1;
    }

    fn down(&mut self) {
        self.row += 1;
        self.lines
            .resize(self.lines.len().max(self.row + 1), Vec::new());
    }

    fn command(&mut self, number: &str, letter: u8) {
        match letter {
            b'A' => self.row = self.row.checked_sub(number.parse().unwrap()).unwrap(),
            b'K' => self.lines[self.row].truncate(self.column),
            b'J' => {
                self.lines[self.row].truncate(self.column);
                self.lines.truncate(self.row + 1);
            }
            _ => panic!("the live table sends ESC [ {number} {}", letter as char),
        }
    }

    fn text(&self) -> Vec<String> {
        self.lines.iter().map(String::from_iter).collect()
    }
}

/// Opens a terminal: our end, and its name for the program.
fn terminal() -> (File, String) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let size = Winsize {
        ws_row: 24,
        ws_col: WIDTH as u16,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&ours, size).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap().into_string().unwrap();
    (File::from(ours), name)
}

#[test]
fn the_live_table_keeps_to_its_lines_and_ctrl_c_leaves_only_the_result() {
    let (mut ours, name) = terminal();
    let theirs = File::options().read(true).write(true).open(name).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_endtable"))
        .args(["rollout", "start", "--roll", "51", "--candidates", "3"])
        .args(["--truncate", "3", "--no-luck-adjustment", "--batch", "1"])
        .args(["--budget", "average:100000000", "--threads", "1"])
        .env("ENDTABLE_PATH", "")
        .env("XDG_DATA_HOME", "/nowhere")
        .stdin(Stdio::null())
        .stdout(theirs.try_clone().unwrap())
        .stderr(theirs)
        .spawn()
        .unwrap();
    let mut screen = Screen::new();
    let mut bytes = [0; 4096];
    let mut drawn = 0;
    while drawn < 3 {
        let count = ours.read(&mut bytes).unwrap();
        screen.take(&bytes[..count]);
        drawn += usize::from(bytes[..count].windows(8).any(|w| w == b"a second"));
    }
    let live = screen.text();
    assert!(live[0].starts_with("play "), "{live:#?}");
    assert!(live[4].contains(" a second, at most "), "{live:#?}");
    assert!(live.iter().all(|line| line.chars().count() < WIDTH));
    assert_eq!((screen.row, screen.column), (5, 0), "{live:#?}");

    // What Ctrl-C does: the terminal writes it down, the program gets a signal.
    ours.write_all(b"\x03").unwrap();
    let sent = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
    // The other end goes away with the program; Linux calls that an error.
    while let Ok(count @ 1..) = ours.read(&mut bytes) {
        screen.take(&bytes[..count]);
    }
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let left = screen.text();
    let starts = |word: &str| left.iter().filter(|line| line.starts_with(word)).count();
    assert_eq!(starts("play "), 1, "{left:#?}");
    assert_eq!(starts("interrupted: "), 1, "{left:#?}");
    assert!(
        !left.iter().any(|line| line.contains("a second")),
        "{left:#?}"
    );
    let table = left
        .iter()
        .position(|line| line.starts_with("XGID="))
        .unwrap();
    // Only the echo of Ctrl-C may stand above the result.
    assert!(
        left[..table]
            .iter()
            .all(|line| ["", "^C"].contains(&line.as_str())),
        "{left:#?}"
    );
}

//! The verbs `eval` and `tables`, as a user calls them.

use std::fs;
use std::path::Path;
use std::process::Output;

use assert_cmd::cargo::cargo_bin_cmd;
use endtable::bearoff::gnubg::Kind;
use endtable::bearoff::schema::{self, Packing};
use endtable::table::{Records, WriteOptions, write};
use serde_json::Value;

/// A two-sided table of one chequer a side on three points, from where every
/// roll bears it off: the side on roll has won.
struct OneChequer;

impl Records for OneChequer {
    fn len(&self) -> u64 {
        16
    }

    fn width(&self) -> usize {
        1
    }

    fn read(&self, first: u64, out: &mut [u32]) -> endtable::Result<()> {
        for (number, value) in (first..).zip(out) {
            let (us, them) = (number / 4, number % 4);
            *value = if us > 0 && them == 0 { 0 } else { 65_535 };
        }
        Ok(())
    }
}

fn make(path: &Path) {
    let kind = Kind::TwoSided {
        points: 3,
        chequers: 1,
        cubeful: false,
    };
    let schema = schema::schema(kind, &Packing::default()).unwrap();
    write(&OneChequer, schema, path, &WriteOptions::default()).unwrap();
}

fn endtable(home: &Path, arguments: &[&str], input: &str) -> Output {
    let mut command = cargo_bin_cmd!("endtable");
    command
        .args(arguments)
        .env_remove("ENDTABLE_PATH")
        .env("HOME", home)
        .env("XDG_DATA_HOME", home.join("data"))
        .write_stdin(input);
    command.output().unwrap()
}

fn json(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|e| panic!("{line}: {e}"))
}

#[test]
fn a_table_in_the_data_folder_is_found_by_its_content() {
    let home = tempfile::tempdir().unwrap();
    let nothing = endtable(home.path(), &["eval", "3:1/2:1"], "");
    assert_eq!(nothing.status.code(), Some(2));
    let said = String::from_utf8(nothing.stderr).unwrap();
    assert!(
        said.contains("ENDTABLE_PATH") && said.contains("make bearoff"),
        "{said}"
    );

    let folder = home.path().join("data/endtable/any");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("notes.etb"), "no table").unwrap();
    make(&folder.join("a.etb"));
    fs::rename(folder.join("a.etb"), folder.join("unlikely.name")).unwrap();

    let listed = endtable(home.path(), &["tables", "--json"], "");
    let listed = json(&String::from_utf8(listed.stdout).unwrap());
    let tables = listed["tables"].as_array().unwrap();
    assert_eq!(tables.len(), 1);
    assert!(
        tables[0]["path"]
            .as_str()
            .unwrap()
            .ends_with("unlikely.name")
    );
    assert_eq!(tables[0]["positions"], 16);

    let one = endtable(home.path(), &["eval", "3:1/2:1", "--json"], "");
    assert!(one.status.success(), "{one:?}");
    let answer = json(&String::from_utf8(one.stdout).unwrap());
    assert_eq!(answer["win"], 1.0);
    assert_eq!(answer["equity_cubeless"], 1.0);
    assert_eq!(answer["exact"], true);
    assert_eq!(answer["equity_centred"], Value::Null);
}

#[test]
fn lines_are_answered_in_order_and_faults_in_their_place() {
    let home = tempfile::tempdir().unwrap();
    let table = home.path().join("t.etb");
    make(&table);
    let table = table.to_str().unwrap();
    let input = "3:1/2:1\nnonsense\n6:1/1:1\n- / 2:1\n\n";
    let output = endtable(
        home.path(),
        &["eval", "-", "--json", "--table", table],
        input,
    );
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    let answers: Vec<Value> = text.lines().map(json).collect();
    assert_eq!(answers.len(), 5);
    assert_eq!(answers[0]["win"], 1.0);
    assert!(answers[1]["error"].as_str().unwrap().contains("nonsense"));
    let missing = answers[2]["error"].as_str().unwrap();
    assert!(missing.contains("two-sided 6x1"), "{missing}");
    assert_eq!(answers[3]["win"], 1.0);
    assert!(answers[4]["error"].is_string());
}

#[test]
fn a_roll_lists_its_plays_and_a_match_score_hides_the_cube() {
    let home = tempfile::tempdir().unwrap();
    let table = home.path().join("t.etb");
    make(&table);
    let table = table.to_str().unwrap();
    let eval = |position: &str, roll: &[&str]| {
        let mut arguments = vec!["eval", position, "--json", "--table", table];
        arguments.extend(roll);
        let output = endtable(home.path(), &arguments, "");
        assert!(output.status.success(), "{output:?}");
        json(&String::from_utf8(output.stdout).unwrap())
    };
    let plain = eval("3:1/2:1", &["--roll", "2-1"]);
    assert_eq!(plain["roll"], "21");
    assert_eq!(plain["plays"][0]["play"], "3/off");
    assert_eq!(plain["plays"][0]["equity"], 1.0);
    // The dice of an XGID are its roll.
    let xgid = eval("XGID=---A-------------------a--:0:0:1:21:0:0:0:0:10", &[]);
    assert_eq!(xgid["plays"][0]["win"], 1.0);
    let score = eval("XGID=---A-------------------a--:0:0:1:21:1:0:0:7:10", &[]);
    assert_eq!(score["cube_action"], Value::Null);

    for (arguments, code) in [
        (vec!["eval"], 2),
        (vec!["eval", "3:1/2:1", "--table", "/no/such/file"], 1),
        (vec!["eval", "3:1/2:1", "--tables", "/no/such/folder"], 2),
        (vec!["eval", "nonsense", "--table", table], 2),
        (vec!["eval", "6:1/1:1", "--table", table], 1),
        (vec!["eval", "3:1/2:1", "--roll", "77", "--table", table], 2),
    ] {
        let output = endtable(home.path(), &arguments, "");
        assert_eq!(output.status.code(), Some(code), "{arguments:?} {output:?}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn text_for_people_names_what_gave_the_answer() {
    let home = tempfile::tempdir().unwrap();
    let table = home.path().join("t.etb");
    make(&table);
    let arguments = [
        "eval",
        "3:1/2:1",
        "--roll",
        "21",
        "--table",
        table.to_str().unwrap(),
    ];
    let output = endtable(home.path(), &arguments, "");
    let text = String::from_utf8(output.stdout).unwrap();
    for part in ["100.000 %", "exact, from", "t.etb", "3/off"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn each_position_decides_which_game_it_is_of() {
    let home = tempfile::tempdir().unwrap();
    let (race, chess) = (home.path().join("race"), home.path().join("chess"));
    fs::create_dir_all(&race).unwrap();
    make(&race.join("ts.etb"));
    let chess = chess.to_str().unwrap();
    let made = endtable(
        home.path(),
        &["make", "chess", "KQK", "-o", chess, "-q"],
        "",
    );
    assert!(made.status.success());
    let asked = "1:1 / 1:1\n7k/8/5KQ1/8/8/8/8/8 w - -\n8/8/8/8/8/8/3kK3/8 w - -\n1:1 / 1:1\n";
    let arguments = [
        "eval",
        "--json",
        "--tables",
        race.to_str().unwrap(),
        "--tables",
        chess,
        "-",
    ];
    let out = endtable(home.path(), &arguments, asked);
    assert_eq!(out.status.code(), Some(1));
    let text = String::from_utf8(out.stdout).unwrap();
    let lines: Vec<Value> = text.lines().map(json).collect();
    assert_eq!(lines.len(), 4);
    for race in [&lines[0], &lines[3]] {
        assert!(race["equity_cubeless"].is_number(), "{race}");
    }
    assert_eq!(
        (&lines[1]["result"], &lines[1]["dtm_plies"]),
        (&"win".into(), &1.into())
    );
    assert!(lines[2]["error"].as_str().unwrap().contains("illegal"));
}

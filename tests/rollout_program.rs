//! The verb `rollout`: options, output, saving and continuing, refusals.

use assert_cmd::Command;
use serde_json::Value;

fn rollout(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("endtable").unwrap();
    command
        .arg("rollout")
        .args(arguments)
        // Tables of this machine would end games elsewhere.
        .env("ENDTABLE_PATH", "")
        .env("XDG_DATA_HOME", "/nowhere");
    command
}

fn json(arguments: &[&str]) -> Value {
    let output = rollout(arguments)
        .arg("--json")
        .assert()
        .success()
        .get_output()
        .stdout
        .clone();
    serde_json::from_slice(&output).unwrap()
}

fn refused(arguments: &[&str], code: i32, named: &str) {
    let output = rollout(arguments)
        .assert()
        .code(code)
        .get_output()
        .stderr
        .clone();
    let text = String::from_utf8(output).unwrap();
    assert!(text.contains(named), "{arguments:?}: {text}");
}

/// Quick games: cut off after two rolls.
const QUICK: [&str; 4] = ["--truncate", "2", "--budget", "average:72"];

fn quick<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    arguments.iter().copied().chain(QUICK).collect()
}

#[test]
fn plays_come_with_their_chances_best_first() {
    let value = json(&quick(&[
        "start",
        "--roll",
        "31",
        "--plays",
        "24/23 13/10; 8/5 6/5",
    ]));
    let plays = value["plays"].as_array().unwrap();
    assert_eq!(plays.len(), 2);
    assert_eq!(plays[0]["play"], "8/5 6/5");
    let games: u64 = plays.iter().map(|p| p["games"].as_u64().unwrap()).sum();
    assert_eq!(games, 144);
    for play in plays {
        for key in [
            "equity",
            "equity_se",
            "win",
            "win_gammon",
            "win_backgammon",
            "lose_gammon",
            "lose_backgammon",
        ] {
            assert!(play[key].is_f64(), "{key} of {play}");
        }
        let p = |key: &str| play[key].as_f64().unwrap();
        let equity = 2.0 * p("win") - 1.0 + p("win_gammon") + p("win_backgammon")
            - p("lose_gammon")
            - p("lose_backgammon");
        assert!((equity - p("equity")).abs() < 1e-5);
    }
}

#[test]
fn a_known_race_is_exact() {
    let value = json(&["6:1 / 6:1", "--budget", "average:36"]);
    let play = &value["plays"][0];
    assert!((play["win"].as_f64().unwrap() - 0.8125).abs() < 1e-5);
    assert_eq!(play["equity_se"], 0.0);
    assert_eq!(play["win_gammon"], 0.0);
}

#[test]
fn every_notation_and_the_dice_in_it_are_understood() {
    let xgid = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10";
    let first = json(&quick(&[xgid]));
    assert_eq!(first["roll"], "31");
    assert_eq!(
        first["plays"],
        json(&quick(&["4HPwATDgc/ABMA", "--roll", "31"]))["plays"]
    );
    assert_eq!(
        first["plays"],
        json(&quick(&["4HPwATDgc/ABMA:cIkFAAAAAAAA"]))["plays"]
    );
}

#[test]
fn a_saved_rollout_continues_to_the_same_end() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("half.json");
    let file = file.to_str().unwrap();
    for stratify in ["blocks", "pairs"] {
        let base = [
            "start",
            "--roll",
            "43",
            "--candidates",
            "2",
            "--truncate",
            "1",
            "--allocate",
            "highest-se",
            "--stratify",
            stratify,
        ];
        let with = |more: &[&'static str]| base.iter().chain(more).copied().collect::<Vec<_>>();
        let mut half = with(&["--budget", "average:648", "--threads", "1"]);
        half.extend(["--save", file]);
        rollout(&half).assert().success();
        let whole = json(&with(&["--budget", "average:1296", "--threads", "2"]));
        let continued = json(&["--extend", file, "--budget", "average:1296"]);
        assert_eq!(continued["plays"], whole["plays"], "{stratify}");
        assert_eq!(continued["games_ended"], whole["games_ended"], "{stratify}");
    }
    refused(
        &["--extend", file, "--roll", "31"],
        2,
        "cannot be used with",
    );
}

/// The tables of this machine end games as those that are named do, and the
/// answer says which did.
#[test]
fn tables_that_are_found_end_games() {
    let folder = tempfile::tempdir().unwrap();
    let make = |arguments: &[&str], name: &str| {
        let path = folder.path().join(name);
        Command::cargo_bin("endtable")
            .unwrap()
            .args(arguments)
            .arg("-o")
            .arg(&path)
            .assert()
            .success();
        path.to_str().unwrap().to_owned()
    };
    let one_sided = make(&["make", "bearoff", "7", "--chequers", "5"], "seven.etb");
    let two_sided = make(&["make", "two-sided", "6x3"], "6x3.etb");
    make(&["make", "chess", "KQK"], "chess");
    let ended = |position: &str, more: &[&str]| {
        let arguments = [&[position, "--budget", "average:36"][..], more].concat();
        let output = rollout(&arguments)
            .arg("--json")
            .env("ENDTABLE_PATH", folder.path())
            .assert()
            .success()
            .get_output()
            .stdout
            .clone();
        let value: Value = serde_json::from_slice(&output).unwrap();
        let ends = value["games_ended"].as_array().unwrap().clone();
        assert_eq!(ends.len(), 1, "{ends:?}");
        assert_eq!(ends[0]["games"], 36);
        ends[0]["by"].as_str().unwrap().to_owned()
    };
    // The two-sided table comes before any one-sided one that knows the position.
    assert_eq!(ended("6:2 1:1 / 5:3", &[]), two_sided);
    assert_eq!(ended("7:2 1:1 / 5:3", &[]), one_sided);
    assert_eq!(ended("7:2 1:1 / 5:3", &["--table", &one_sided]), one_sided);
    // Tables that are named stand alone, beside the computed one.
    let computed = "six points, one-sided, computed in memory";
    assert_eq!(ended("6:2 1:1 / 5:3", &["--table", &one_sided]), computed);
    let all = folder.path().to_str().unwrap();
    assert_eq!(ended("6:2 1:1 / 5:3", &["--tables", all]), two_sided);
    assert_eq!(ended("6:2 1:1 / 5:3", &["--no-tables"]), "the last chequer");
    assert_eq!(
        ended("start", &["--truncate", "1", "--no-luck-adjustment"]),
        "truncation"
    );
}

#[test]
fn a_match_table_changes_what_gammons_are_worth() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("table.txt");
    std::fs::write(
        &file,
        "0.5 0.7 0.75\n0.3 0.5 0.6\n0.25 0.4 0.5\npost-crawford 0.5 0.49 0.32\n",
    )
    .unwrap();
    let file = file.to_str().unwrap();
    // The side on roll needs one point: its gammons are worth nothing more.
    let position = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:2:0:1:3:10";
    let value = json(&quick(&[
        position,
        "--plays",
        "8/5 6/5",
        "--match-table",
        file,
    ]));
    let play = &value["plays"][0];
    let p = |key: &str| play[key].as_f64().unwrap();
    // A loss leads to 1 away, 2 away after the Crawford game: 1 − 0.49; a
    // gammon and a backgammon lose 1 − 0.5 and the match.
    let (plain, gammon, backgammon) = (0.51, 0.50, 0.0);
    let chance = p("win")
        + (1.0 - p("win") - p("lose_gammon")) * plain
        + (p("lose_gammon") - p("lose_backgammon")) * gammon
        + p("lose_backgammon") * backgammon;
    let equity = (chance - (1.0 + plain) / 2.0) / ((1.0 - plain) / 2.0);
    assert!(
        (p("equity") - equity).abs() < 1e-4,
        "{} {equity}",
        p("equity")
    );
    refused(
        &quick(&["start", "--roll", "31", "--match-table", file]),
        2,
        "needs a score",
    );
}

#[test]
fn wrong_calls_are_refused_with_what_is_wrong() {
    refused(
        &["start", "--roll", "31", "--cubeful"],
        2,
        "cubeful rollouts are not implemented",
    );
    refused(&["start", "--roll", "37"], 2, "no roll");
    refused(
        &["start", "--roll", "31", "--plays", "8/3"],
        2,
        "no legal play of 31",
    );
    refused(&["start", "--plays", "8/5 6/5"], 2, "needs a roll");
    refused(&["nonsense"], 2, "no position");
    refused(
        &["start", "--budget", "most:3"],
        2,
        "first, average, maximum",
    );
    refused(&["start", "--table", "missing.bd"], 1, "missing.bd");
    refused(
        &["start", "--external", "/nowhere/engine"],
        1,
        "/nowhere/engine",
    );
}

#[cfg(unix)]
#[test]
fn another_program_can_be_the_evaluator() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("engine");
    // Answers every board with the same chances; the games end by truncation.
    let text = r#"#!/bin/sh
while read -r line; do
    id=${line#*\"id\":}; id=${id%%,*}
    count=$(printf '%s' "$line" | grep -o on_roll | wc -l)
    answer='[0.5,0.25,0,0.125,0]'
    all=$answer
    while [ "$count" -gt 1 ]; do all="$all,$answer"; count=$((count - 1)); done
    printf '{"id":%s,"chances":[%s]}\n' "$id" "$all"
done
"#;
    std::fs::write(&script, text).unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let command = format!("/bin/sh {}", script.display());
    let arguments = [
        "start",
        "--truncate",
        "1",
        "--budget",
        "average:36",
        "--no-luck-adjustment",
        "--external",
    ];
    let value = json(&[&arguments[..], &[&command]].concat());
    let play = &value["plays"][0];
    // After one roll the other side is on roll, and its chances are turned round.
    assert_eq!(play["win_gammon"], 0.125);
    assert_eq!(play["lose_gammon"], 0.25);
    std::fs::write(&script, "read -r line\n").unwrap();
    refused(
        &[&arguments[..], &[&command]].concat(),
        1,
        "ended without an answer",
    );
}

//! The trace of a night, for reading: what happens all the time is left out.

use crate::Broken;

/// Lines of the last moments.
const LINES: usize = 80;
/// Characters of a line.
const WIDTH: usize = 240;
/// What every service does all the time, whatever happens.
const NOISE: [&str; 13] = [
    "> announce ",
    "> begin_tick ",
    "> read_snapshot ",
    ":testimony round ",
    "> take_changes ",
    "> lagging ",
    "> lease ",
    " SMEMBERS ",
    " HGETALL ",
    " GET ",
    " TIME ",
    " SCRIPT LOAD",
    " PING ",
];
/// How the keys of rooms begin.
const KEY: &str = "vestibule:room:{";

/// The lines to show of a night in which something broke.
pub(super) fn readable(trace: &[String], broken: &Broken) -> Vec<String> {
    let says = format!("JUDGE: {}", broken.invariant);
    let end = trace.iter().position(|line| line.contains(&says)).map_or(trace.len(), |at| at + 1);
    let telling = |line: &&String| {
        !NOISE.iter().any(|noise| line.contains(noise)) && !is_elsewhere(line, &broken.what)
    };
    let mut lines: Vec<_> = trace[..end].iter().rev().filter(telling).take(LINES).collect();
    lines.reverse();
    lines.into_iter().map(|line| cut(line)).collect()
}

/// Whether a line is about a room that `what` is wrong does not name.
fn is_elsewhere(line: &str, what: &str) -> bool {
    let room = line.split_once(KEY).and_then(|(_, key)| Some(key.split_once('}')?.0));
    what.contains("room-") && room.is_some_and(|room| !what.contains(room))
}

fn cut(line: &str) -> String {
    let line = line.lines().next().unwrap_or_default();
    match line.char_indices().nth(WIDTH) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_with_the_verdict_and_leaves_out_noise() {
        let lines = [
            "0.1 a > join vestibule:room:{room-0}:line",
            "0.1 a > join vestibule:room:{room-1}:line",
            "0.2 a > take_changes vestibule:{deployment}:changes",
            "0.3 JUDGE: rate: wrong\n - x",
            "0.4 a > tick",
        ];
        let trace = lines.map(str::to_owned);
        let broken = Broken { at_ms: 300, invariant: "rate", what: "in room-0: wrong".to_owned() };
        let last = readable(&trace, &broken);
        assert_eq!(last, [lines[0], "0.3 JUDGE: rate: wrong"]);
    }
}

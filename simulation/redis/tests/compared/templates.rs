//! Random commands, made from templates: `%` and a letter stand for something random, `(a|b|)` for one
//! of these, and `…` repeats the word before it, or the two before it.

use crate::{chance::Chance, link::Command};

/// What `%` and a letter stand for.
pub(crate) struct Words {
    pub(crate) chance: Chance,
    now_seconds: i64,
}

/// Keys: `s` text, `b` bitmap, `h` hash, `t` set, `z` sorted set. Few, so that they collide.
pub(crate) const KEYS: [&str; 10] = ["s1", "s2", "b1", "b2", "h1", "h2", "t1", "t2", "z1", "z2"];

const INTEGERS: [&str; 20] = [
    "0",
    "1",
    "-1",
    "2",
    "3",
    "5",
    "-3",
    "10",
    "-100",
    "100",
    "-0",
    "007",
    " 1",
    "1.5",
    "x",
    "",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "4294967296",
];
const FLOATS: [&str; 20] = [
    "0",
    "1",
    "-1",
    "2",
    "2",
    "3",
    "0.1",
    "2.5",
    "-2.5",
    "1e3",
    "100",
    "1e300",
    "inf",
    "-inf",
    "+inf",
    "nan",
    "x",
    "",
    "-0",
    "17179869184",
];
const DECIMALS: [&str; 9] = ["0.1", "-0.25", "3", "1.5", "-3.0", "1e2", "x", "inf", "0"];
const VALUES: [&str; 11] =
    ["a", "b", "", "1", "-7", "10", "3.0", "hello world", "\r\n", "ÿ\u{1}", "0123456789"];

// === impl Words ===

impl Words {
    pub(crate) fn new(seed: u64, now_seconds: i64) -> Self {
        Self { chance: Chance::new(seed), now_seconds }
    }

    /// A command of one of these templates; sometimes with a word too few or too many.
    pub(crate) fn command(&mut self, templates: &str) -> Command {
        let all: Vec<&str> = templates.lines().filter(|line| !line.is_empty()).collect();
        let template = self.chance.one(&all);
        let mut words = self.fill(template);
        if self.chance.once_in(40) {
            words.pop();
        } else if self.chance.once_in(60) {
            words.push("x".to_owned());
        }
        if words.is_empty() {
            words.push("PING".to_owned());
        }
        if self.chance.once_in(3) {
            words[0].make_ascii_lowercase();
        }
        words.into_iter().map(String::into_bytes).collect()
    }

    fn fill(&mut self, template: &str) -> Vec<String> {
        let mut words: Vec<String> = vec![];
        let mut parts: Vec<&str> = vec![];
        for part in template.split(' ') {
            let repeated = match part {
                "…" => &parts[parts.len() - 1..],
                "……" => &parts[parts.len() - 2..],
                part => {
                    parts.push(part);
                    words.extend(self.word(part));
                    continue;
                }
            };
            for _ in 0..self.chance.below(4) {
                words.extend(repeated.iter().filter_map(|part| self.word(part)));
            }
        }
        words
    }

    /// `None`: an option was left out.
    fn word(&mut self, part: &str) -> Option<String> {
        if let Some(choices) = part.strip_prefix('(').and_then(|part| part.strip_suffix(')')) {
            let choices: Vec<&str> = choices.split('|').collect();
            return Some(self.chance.one(&choices).to_owned()).filter(|word| !word.is_empty());
        }
        let Some(kind) = part.strip_prefix('%') else { return Some(part.to_owned()) };
        Some(match kind {
            "s" | "b" | "h" | "t" | "z" => self.key(kind),
            "k" => self.chance.one(&KEYS).to_owned(),
            "f" => self.chance.one(&["f1", "f2", "f3", "f4", "f5"]).to_owned(),
            "m" => self.chance.one(&["a", "b", "c", "d", "e", "m1", "m2"]).to_owned(),
            "v" => self.chance.one(&VALUES).to_owned(),
            "i" => self.integer(),
            "n" => self.chance.one(&FLOATS).to_owned(),
            "d" => self.chance.one(&DECIMALS).to_owned(),
            "r" => self.chance.between(-6, 6).to_string(),
            "l" => self.limit(),
            "o" => self.offset(),
            "e" => self.duration(1),
            "p" => self.duration(1000),
            "E" => self.time(1),
            "P" => self.time(1000),
            other => panic!("%{other} means nothing"),
        })
    }

    /// Mostly of this kind.
    fn key(&mut self, kind: &str) -> String {
        if self.chance.once_in(25) {
            return self.chance.one(&KEYS).to_owned();
        }
        format!("{kind}{}", self.chance.between(1, 2))
    }

    fn integer(&mut self) -> String {
        if self.chance.once_in(3) {
            return self.chance.one(&INTEGERS).to_owned();
        }
        self.chance.between(-20, 20).to_string()
    }

    /// An end of a range of scores.
    fn limit(&mut self) -> String {
        let float = loop {
            let float = self.chance.one(&FLOATS);
            if !float.is_empty() {
                break float;
            }
        };
        format!("{}{float}", self.chance.one(&["", "", "("]))
    }

    fn offset(&mut self) -> String {
        if self.chance.once_in(12) {
            return self.chance.one(&["-1", "x", "4294967296", ""]).to_owned();
        }
        self.chance.between(0, 90).to_string()
    }

    /// Far apart, because the clock of a real server goes on.
    fn duration(&mut self, unit: i64) -> String {
        match self.chance.below(10) {
            0 => self.chance.one(&["0", "-1", "-1000000000", "x"]).to_owned(),
            1 => self.chance.one(&["9223372036854775807", "-9223372036854775808"]).to_owned(),
            _ => (self.chance.between(10, 9000) * 100 * unit).to_string(),
        }
    }

    fn time(&mut self, unit: i64) -> String {
        match self.chance.below(8) {
            // Not in the past: a real server keeps such a key until somebody asks for it.
            0 => self.chance.one(&["0", "-5", "x"]).to_owned(),
            _ => ((self.now_seconds + self.chance.between(10, 9000) * 100 + 50) * unit).to_string(),
        }
    }
}

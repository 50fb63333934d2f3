//! The options of the judge as text: the command line that plays exactly one night again. It is the
//! opposite of [`super::options`].

use std::fmt::{Display, Write};

use vestibule_simulation::{BrokenNight, FaultKinds, Nights};

/// The command line that plays what is left of the night again.
pub(super) fn again(nights: &Nights, night: &BrokenNight) -> String {
    let shape = &nights.shape;
    let mut line = format!(
        "vestibule-crowd simulate --seed {} --faults {} --length {} --most-faults {} \
         --operations {} --hostile {} --aws {} --limited {} --visitors {}",
        night.seed,
        FaultKinds(shape.faults.clone()),
        length(shape.length_ms),
        shape.most_faults,
        shape.most_operations,
        shape.hostile,
        shape.aws,
        shape.limited,
        shape.visitors,
    );
    let skipped = Some(nights.skipped.join(",")).filter(|names| !names.is_empty());
    let defect = nights.defect.as_ref().map(|(instead_of, does)| format!("{instead_of}=>{does}"));
    let only = &night.only;
    add(&mut line, "--skip", skipped.map(quoted));
    add(&mut line, "--defect", defect.map(quoted));
    add(&mut line, "--until", only.until_ms.map(length));
    add(&mut line, "--only-faults", only.faults.as_ref());
    add(&mut line, "--only-operations", only.operations.as_ref());
    add(&mut line, "--only-visitors", only.visitors.as_ref());
    line
}

fn add(line: &mut String, option: &str, value: Option<impl Display>) {
    if let Some(value) = value {
        // Writing to a string does not fail.
        let _ = write!(line, " {option} {value}");
    }
}

/// As a shell reads it.
#[expect(clippy::needless_pass_by_value, reason = "it takes part in a chain")]
fn quoted(text: String) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn length(ms: u64) -> String {
    if ms.is_multiple_of(1_000) { format!("{}s", ms / 1_000) } else { format!("{ms}ms") }
}

#[cfg(test)]
mod tests {
    use vestibule_simulation::FaultKind;

    use super::*;
    use crate::cli::{Command, parse};

    fn nights(line: &str) -> Nights {
        let words = line.split_whitespace().map(|word| word.trim_matches('\'').into());
        let Ok(Command::Simulate(options)) = parse(words) else { panic!("this is fine: {line}") };
        assert!(options.nights.are_asked_for());
        options.nights.nights(&options.crowd)
    }

    #[test]
    fn the_printed_command_line_plays_the_same_night() {
        let seats = "settings.total_active_users=>100000";
        let all = nights(&format!(
            "vestibule-crowd simulate --seeds 0..9 --faults none --length 9s --visitors 20 --aws 0.5 \
             --skip waits,presence --defect {seats}"
        ));
        assert_eq!((all.seeds.clone(), all.skipped.len()), (0..9, 2));
        let seed = all.play_all(&false.into(), |_| ()).unwrap().first_broken().unwrap();
        let small = BrokenNight::find(&all, seed, true).unwrap().unwrap();
        let line = again(&all, &small);
        assert!(line.contains("--only-visitors"), "{line}");
        let one = nights(&line);
        assert_eq!(one.seeds, seed..seed + 1);
        let same = BrokenNight::find(&one, seed, true).unwrap().unwrap();
        assert_eq!(same.digest, small.digest);
        assert_eq!(again(&one, &same), line);
    }

    #[test]
    fn nights_have_a_crowd_of_their_own() {
        assert_eq!(nights("vestibule-crowd simulate --seeds 3").shape.visitors, 60);
        assert_eq!(nights("vestibule-crowd simulate --seeds 3 --visitors 9").shape.visitors, 9);
        assert_eq!(nights("vestibule-crowd simulate --seed 3 --faults none").shape.faults, []);
        let kinds = nights("vestibule-crowd simulate --seeds 3").shape.faults;
        assert_eq!(kinds, FaultKind::withstood());
    }

    #[test]
    fn a_shell_reads_quotes_as_they_are() {
        assert_eq!(quoted("a 'b'".to_owned()), r"'a '\''b'\'''");
    }
}

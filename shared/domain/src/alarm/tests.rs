//! The table of alarms, compared with the rules for Prometheus.

use std::{collections::BTreeSet, fs};

use super::*;

/// Of these nobody can tell by a webhook: see `docs/webhooks.md`, which says why of each.
const PROMETHEUS_ONLY: [&str; 5] = [
    "VestibuleRedisAway",
    "VestibuleNoLeader",
    "VestibuleShedding",
    "VestibuleWebhookOff",
    "VestibuleCertificateEnds",
];

fn file(path: &str) -> String {
    fs::read_to_string(format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn seconds(length: &str) -> u64 {
    let (number, unit) = length.split_at(length.len() - 1);
    let unit = match unit {
        "s" => 1,
        "m" => 60,
        "d" => 86_400,
        _ => panic!("{length}"),
    };
    number.parse::<u64>().unwrap() * unit
}

#[test]
fn the_alarms_are_those_of_the_rules() {
    let rules = file("deploy/prometheus/rules/vestibule.yml");
    let mut names: BTreeSet<&str> = BTreeSet::new();
    for rule in rules.split("- alert: ").skip(1) {
        let name = rule.lines().next().unwrap().trim();
        let after = |word: &str| rule.split_once(word).unwrap().1.lines().next().unwrap().trim();
        names.insert(name);
        let Some(alarm) = Alarm::of_name(name) else {
            assert!(PROMETHEUS_ONLY.contains(&name), "{name}");
            continue;
        };
        assert_eq!(alarm.holds_for_ms(), 1_000 * seconds(after("for: ")), "{name}");
        assert_eq!(alarm.severity().name(), after("severity: "), "{name}");
        assert_eq!(alarm.runbook(), after("runbook: "), "{name}");
    }
    assert_eq!(names.len(), Alarm::ALL.len() + PROMETHEUS_ONLY.len());
}

#[test]
fn those_of_prometheus_alone_are_named_in_the_documents() {
    let page = file("docs/webhooks.md");
    for name in PROMETHEUS_ONLY {
        assert!(page.contains(name), "{name}");
    }
}

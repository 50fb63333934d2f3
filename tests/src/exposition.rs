//! Metrics as a service tells them, and as `docs/metrics.md` does, in the same form, so that they can be compared.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};

/// Metrics by their names.
pub type Families = BTreeMap<String, Family>;

/// What is said of one metric.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Family {
    /// `counter`, `gauge`, `histogram`, `info`.
    pub kind: String,
    /// What it means.
    pub help: String,
    /// Whether it is in seconds.
    pub is_in_seconds: bool,
    /// The labels that its series have.
    pub labels: BTreeSet<String>,
}

/// What an answer of `/metrics` tells.
pub fn told(text: &str) -> Result<Families> {
    let mut families = Families::new();
    let mut current = String::new();
    for line in text.lines().filter(|line| *line != "# EOF") {
        if let Some(comment) = line.strip_prefix("# ") {
            let (what, rest) = comment.split_once(' ').with_context(|| line.to_owned())?;
            let (name, value) = rest.split_once(' ').with_context(|| line.to_owned())?;
            name.clone_into(&mut current);
            let family = families.entry(current.clone()).or_default();
            match what {
                "HELP" => value.trim_end_matches('.').clone_into(&mut family.help),
                "TYPE" => value.clone_into(&mut family.kind),
                _ => family.is_in_seconds = value == "seconds",
            }
        } else {
            let family = families.entry(current.clone()).or_default();
            family.labels.extend(labels(line).filter(|label| label != "le"));
        }
    }
    Ok(families.into_iter().map(|(name, family)| (asked_for(name, &family), family)).collect())
}

/// What the page says of the metrics of `service`.
pub fn documented(page: &str, service: &str) -> Result<Families> {
    let rows = page.lines().filter(|line| line.starts_with("| `vestibule_"));
    let families = rows.map(|row| {
        let cells: Vec<_> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [name, kind, labels, unit, of, help] = cells[..] else {
            anyhow::bail!("not six cells: {row}");
        };
        let labels = labels.split(", ").filter(|label| !label.is_empty());
        let family = Family {
            kind: kind.to_owned(),
            help: help.to_owned(),
            is_in_seconds: unit == "seconds",
            labels: labels.map(|label| label.trim_matches('`').to_owned()).collect(),
        };
        Ok((of == "both" || of == service).then(|| (name.trim_matches('`').to_owned(), family)))
    });
    families.filter_map(Result::transpose).collect()
}

/// The name by which its series are asked for.
fn asked_for(name: String, family: &Family) -> String {
    match family.kind.as_str() {
        "counter" => name + "_total",
        "info" => name + "_info",
        _ => name,
    }
}

/// The names of the labels of a series, whose values may have anything in them.
fn labels(series: &str) -> impl Iterator<Item = String> {
    let mut rest = series.split_once('{').map_or("", |(_, rest)| rest);
    std::iter::from_fn(move || {
        let (name, value) = rest.split_once("=\"")?;
        let mut is_escaped = false;
        let end = value.find(|letter| {
            let ends = letter == '"' && !is_escaped;
            is_escaped = letter == '\\' && !is_escaped;
            ends
        })?;
        rest = &value[end + 1..];
        let name = name.trim_start_matches(',').to_owned();
        if !rest.starts_with(',') {
            rest = "";
        }
        Some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOLD: &str = r#"# HELP vestibule_calls Calls.
# TYPE vestibule_calls counter
vestibule_calls_total{route="/v1/{room}, \"x\"",le="a"} 3
# HELP vestibule_end_seconds When it ends.
# TYPE vestibule_end_seconds gauge
# UNIT vestibule_end_seconds seconds
vestibule_end_seconds 7
# EOF
"#;
    const PAGE: &str = "
| metric | type | labels | unit | of | meaning |
|---|---|---|---|---|---|
| `vestibule_calls_total` | counter | `route` | calls | both | Calls |
| `vestibule_end_seconds` | gauge | | seconds | admission | When it ends |
";

    #[test]
    fn a_page_and_an_answer_that_say_the_same_are_equal() -> Result<()> {
        assert_eq!(told(TOLD)?, documented(PAGE, "admission")?);
        let of_controller: Vec<_> = documented(PAGE, "controller")?.into_keys().collect();
        assert_eq!(of_controller, ["vestibule_calls_total"]);
        let other = PAGE.replace("`route`", "`room`");
        assert_ne!(told(TOLD)?, documented(&other, "admission")?);
        Ok(())
    }
}

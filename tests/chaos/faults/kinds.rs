//! Kinds of faults as text: by their names, `all` or `none`.

use std::{fmt, str::FromStr};

use super::FaultKind;

/// Kinds of faults, in the order in which they are drawn from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FaultKinds(pub(crate) Vec<FaultKind>);

// === impl FaultKinds ===

impl FromStr for FaultKinds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let kind = |name: &str| {
            let mut kinds = FaultKind::ALL.iter().copied();
            kinds
                .find(|kind| kind.name() == name.trim())
                .ok_or_else(|| format!("`{name}` is none of {}", Self(FaultKind::ALL.to_vec())))
        };
        Ok(Self(match text.trim() {
            "none" => Vec::new(),
            "all" => FaultKind::ALL.to_vec(),
            text => text.split(',').map(kind).collect::<Result<_, _>>()?,
        }))
    }
}

impl fmt::Display for FaultKinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.0.iter().map(|kind| kind.name()).collect();
        f.write_str(if names.is_empty() { "none".to_owned() } else { names.join(",") }.as_str())
    }
}

#[test]
fn faults_keep_their_order_since_seeds_draw_by_it() {
    let text = "wipe,kill,half-open";
    assert_eq!(text.parse::<FaultKinds>().unwrap().to_string(), text);
    assert_eq!("none".parse::<FaultKinds>().unwrap().to_string(), "none");
    assert_eq!("all".parse::<FaultKinds>().unwrap().0, FaultKind::ALL);
    assert!("earthquake".parse::<FaultKinds>().unwrap_err().contains("half-open"));
}

//! Bypass rules: a request passes only if every server takes it for what the rule opens.

use std::{net::IpAddr, sync::LazyLock};

use vestibule_site::{Headers, Request, RequestPath, SiteBinding};

use super::{PATH_WORDS, Target, text};
use crate::servers;

pub(super) const TARGET: Target = Target { name: "bypass", run, words: PATH_WORDS };

const OPEN: &str = "/sale/open/";

static BINDING: LazyLock<SiteBinding> = LazyLock::new(|| {
    let rule = format!(
        r#"{{"bypass_rules": [{{"name": "open", "when": {{"path": {{"starts_with": "{OPEN}"}}}}}}]}}"#
    );
    serde_json::from_str(&rule).expect("a rule")
});

struct NoHeaders;

impl Headers for NoHeaders {
    fn values(&self, _name: &str) -> Vec<&str> {
        Vec::new()
    }
}

fn run(bytes: &[u8]) {
    let raw = text(bytes);
    // What does not begin with a slash is no path of a site.
    let Ok(path) = RequestPath::parse(&raw) else { return };
    if !raw.starts_with('/') {
        return;
    }
    let client = IpAddr::from([192, 0, 2, 1]);
    let request = Request {
        host: "shop.example",
        path,
        query: "",
        method: "GET",
        client,
        headers: &NoHeaders,
    };
    if BINDING.bypassed_by(&request).is_none() {
        return;
    }
    for reading in servers::readings(&raw) {
        assert!(
            reading.starts_with(OPEN),
            "{raw:?} passes, and some server takes it for {reading:?}"
        );
    }
}

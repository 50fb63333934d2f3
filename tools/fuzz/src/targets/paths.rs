//! Paths: no spelling of a covered place is free.

use std::sync::LazyLock;

use vestibule_site::{Coverage, RequestPath, SiteBinding, encode_path};

use super::{PATH_WORDS, Target, text};
use crate::servers;

pub(super) const TARGET: Target = Target { name: "paths", run, words: PATH_WORDS };

const HOST: &str = "shop.example";
const PLACE: &str = "/sale";

static COVERAGE: LazyLock<Coverage<String>> = LazyLock::new(|| {
    let routes = format!(r#"{{"routes": [{{"host": "{HOST}", "path": "{PLACE}"}}]}}"#);
    let binding: SiteBinding = serde_json::from_str(&routes).expect("a route");
    Coverage::new([(&"sale".to_owned(), &binding)])
});

fn run(bytes: &[u8]) {
    let raw = text(bytes);
    // What is too long or too ambiguous is refused, which lets nobody in.
    let Ok(path) = RequestPath::parse(&raw) else { return };
    assert_eq!(path.raw(), raw);
    assert_not_free(&path);
    // Written as a browser would write it, a plain path is read as what was meant.
    let encoded = encode_path(&raw);
    if let Ok(again) = RequestPath::parse(&encoded)
        && raw.starts_with('/')
        && servers::is_below(&raw, PLACE)
    {
        assert!(is_covered(&again), "{encoded:?} is free");
    }
}

fn is_covered(path: &RequestPath) -> bool {
    COVERAGE.covering(HOST, path).is_ok_and(|found| found.is_some())
}

/// Whatever some server takes for the covered place is covered.
pub(super) fn assert_not_free(path: &RequestPath) {
    let raw = path.raw();
    let a_server_reads = |path: &String| servers::is_below(path, PLACE);
    // A request's target begins with a slash; what does not is no path of a site.
    if raw.starts_with('/') && servers::readings(raw).iter().any(a_server_reads) {
        assert!(is_covered(path), "{raw:?} is free, and some server takes it for {PLACE}");
    }
}

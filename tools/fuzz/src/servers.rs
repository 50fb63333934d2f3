//! How simple servers read a path, written without a look at how the product does it. They disagree, which is why no one
//! reading is enough: what one of them takes for a covered place must be covered, and what one of them takes for another
//! place than a rule opens must not pass by that rule.

use percent_encoding::percent_decode_str;

/// The path as each server reads it.
pub(crate) fn readings(raw: &str) -> Vec<String> {
    let once = decoded(raw);
    let twice = decoded(&once);
    let slashes = |path: &str| path.replace('\\', "/");
    let mut readings = Vec::new();
    for path in [raw.to_owned(), once, twice] {
        readings.push(path.clone());
        readings.push(resolved(&path));
        readings.push(resolved(&slashes(&path)));
        readings.push(resolved(&merged(&path)));
        readings.push(resolved(&merged(&slashes(&path))));
        readings.push(resolved(&merged(&without_parameters(&path))));
        readings.push(resolved(&merged(&without_parameters(&slashes(&path)))));
    }
    readings
}

/// Whether it is the place itself or something below it.
pub(crate) fn is_below(path: &str, place: &str) -> bool {
    path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn decoded(path: &str) -> String {
    percent_decode_str(path).decode_utf8_lossy().into_owned()
}

fn merged(path: &str) -> String {
    let mut merged = String::with_capacity(path.len());
    for character in path.chars() {
        if character != '/' || !merged.ends_with('/') {
            merged.push(character);
        }
    }
    merged
}

/// As servers of Java read it: what follows a semicolon in a segment is no part of its name.
fn without_parameters(path: &str) -> String {
    let names = path.split('/').map(|segment| segment.split(';').next().unwrap_or_default());
    names.collect::<Vec<_>>().join("/")
}

/// Without `.` and `..`, never above the top.
fn resolved(path: &str) -> String {
    let Some(path) = path.strip_prefix('/') else { return path.to_owned() };
    let mut names: Vec<&str> = Vec::new();
    let mut is_folder = false;
    for name in path.split('/') {
        is_folder = matches!(name, "." | "..");
        match name {
            "." => {}
            ".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    let end = if is_folder && !names.is_empty() { "/" } else { "" };
    format!("/{}{end}", names.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_read_what_is_written_in_disguise() {
        for disguise in
            ["/sale", "//sale", "/x/../sale", "/%73ale", "/%2573ale", "\\sale", "/;a/sale"]
        {
            let path = format!("/{}", disguise.trim_start_matches('/'));
            let read = readings(if disguise.starts_with('\\') { &path } else { disguise });
            assert!(read.iter().any(|path| is_below(path, "/sale")), "{disguise}: {read:?}");
        }
        assert!(!is_below("/saleroom", "/sale"));
    }
}

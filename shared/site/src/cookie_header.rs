//! The one reader of `Cookie` headers. Nothing is decoded and nothing is allocated: this runs for
//! every poll.

/// The cookies of these header lines, by name and value as they were sent, in their order. Pairs
/// without `=` are left out.
pub fn cookie_pairs<'a>(
    headers: impl Iterator<Item = &'a str>,
) -> impl Iterator<Item = (&'a str, &'a str)> {
    headers.flat_map(|header| header.split(';')).filter_map(|pair| {
        let (name, value) = pair.split_once('=')?;
        Some((name.trim(), value.trim()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_read_from_every_line_as_they_were_sent() {
        let lines = ["a=b; c = d=e ;f", "a=\"x\";; g="];
        let pairs: Vec<_> = cookie_pairs(lines.into_iter()).collect();
        assert_eq!(pairs, [("a", "b"), ("c", "d=e"), ("a", "\"x\""), ("g", "")]);
    }
}

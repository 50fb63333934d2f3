//! The parameters of a query or a form, each at most once, as RFC 6749 wants (3.1, 3.2). What they mean is not here.

use percent_encoding::percent_decode_str;

/// The parameters of one request, decoded.
#[derive(Debug, Clone)]
pub(super) struct Parameters(Vec<(String, String)>);

/// A query or a form is no text: what it says could not be said again as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NoText;

/// A parameter is there more than once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Repeated;

// === impl Parameters ===

impl Parameters {
    /// Those of `sent`.
    pub(super) fn parse(sent: &str) -> Result<Self, NoText> {
        check_text(sent)?;
        Ok(Self(form_urlencoded::parse(sent.as_bytes()).into_owned().collect()))
    }

    /// The value of `name`. An empty one is none.
    pub(super) fn get(&self, name: &str) -> Result<Option<&str>, Repeated> {
        let mut values = self.values(name);
        let value = values.next();
        if values.next().is_some() { Err(Repeated) } else { Ok(value) }
    }

    /// Its first value, where it does not matter how often it is there.
    pub(super) fn first(&self, name: &str) -> Option<&str> {
        self.values(name).next()
    }

    fn values<'a, 'n>(&'a self, name: &'n str) -> impl Iterator<Item = &'a str> + use<'a, 'n> {
        let named = self.0.iter().filter(move |(key, _)| key == name);
        named.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }
}

/// Whether what was sent is a text, once it is decoded.
pub(crate) fn check_text(sent: &str) -> Result<(), NoText> {
    percent_decode_str(sent).decode_utf8().map(drop).map_err(|_| NoText)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_there_once_or_not_at_all() {
        let parameters = Parameters::parse("a=1&b=&c=%C3%A9+x&d=1&d=1&b=").unwrap();
        assert_eq!(parameters.get("a"), Ok(Some("1")));
        assert_eq!(parameters.get("b"), Ok(None));
        assert_eq!(parameters.get("c"), Ok(Some("é x")));
        assert_eq!(parameters.get("d"), Err(Repeated));
        assert_eq!(parameters.first("d"), Some("1"));
        assert_eq!(parameters.get("e"), Ok(None));
    }

    #[test]
    fn what_is_no_text_is_not_made_one() {
        for sent in ["a=%FF", "%C3=1", "a=%C3%28"] {
            assert_eq!(Parameters::parse(sent).unwrap_err(), NoText, "{sent}");
        }
        assert!(Parameters::parse("a=100%&%F0%9F%8E%AB=%").is_ok());
    }
}

//! Tokens that are given by options: `VESTIBULE_API_TOKEN`, and those of `VESTIBULE_API_TOKENS`, each as
//! `name:role:token` or `name:role:room,room:token`. Only their hashes are kept.

use secrecy::{ExposeSecret, SecretString};
use vestibule_domain::{
    RoomId,
    access::{RoomScope, digest},
};
use vestibule_runtime::secret::SecretError;

use crate::access::Caller;

/// The name of the token that is always there.
pub(crate) const ROOT: &str = "root";

/// Fewest bytes of a token that somebody has thought of.
pub(crate) const MIN_TOKEN_BYTES: usize = 16;

/// A token that an option has.
#[derive(Debug, Clone)]
pub(crate) struct GivenToken {
    /// The hex SHA-256 of it.
    pub(super) digest: String,
    /// Who shows it.
    pub(super) caller: Caller,
}

/// Why the tokens of options cannot be used. Never says a token.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GivenTokenError {
    /// They cannot be read.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// That of the operators could not be shown in a header.
    #[error(
        "VESTIBULE_API_TOKEN must be printable ASCII, without spaces and line ends around it: take another text"
    )]
    Root,
    /// Two are the same text, so nobody could tell whose it is.
    #[error(
        "VESTIBULE_API_TOKENS: the token of `{later}` is that of `{earlier}`, too (`root` is VESTIBULE_API_TOKEN): give each a \
         token of its own"
    )]
    Same {
        /// The name of the first.
        earlier: String,
        /// That of the other one.
        later: String,
    },
    /// One is not as it must be.
    #[error(
        "VESTIBULE_API_TOKENS: token {number}{name}: {reason}. Each is `name:role:token` or \
         `name:role:room,room:token`, one a line or separated by `;`"
    )]
    Token {
        /// Which of them, from 1.
        number: usize,
        /// Its name, if it has one that may be shown.
        name: String,
        /// What is wrong.
        reason: String,
    },
}

// === impl GivenToken ===

impl GivenToken {
    /// The built-in token.
    pub(crate) fn root(token: &SecretString) -> Self {
        Self { digest: digest(token.expose_secret()), caller: Caller::admin(ROOT) }
    }

    /// All tokens of options: the built-in one, and those of a text.
    ///
    /// # Errors
    /// [`GivenTokenError`] for the first that is wrong.
    pub(crate) fn all(root: &SecretString, others: &str) -> Result<Vec<Self>, GivenTokenError> {
        let text = root.expose_secret();
        if text.trim() != text || !text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            return Err(GivenTokenError::Root);
        }
        let mut tokens = vec![Self::root(root)];
        for token in Self::read_all(others)? {
            if let Some(same) = tokens.iter().find(|other| other.digest == token.digest) {
                let [earlier, later] = [same, &token].map(|token| token.caller.name.to_string());
                return Err(GivenTokenError::Same { earlier, later });
            }
            tokens.push(token);
        }
        Ok(tokens)
    }

    /// The tokens of a text; lines that are empty or begin with `#` do not count.
    ///
    /// # Errors
    /// [`GivenTokenError`] for the first that is wrong.
    pub(crate) fn read_all(text: &str) -> Result<Vec<Self>, GivenTokenError> {
        let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
        let parts = lines.flat_map(|line| line.split(';')).map(str::trim);
        let mut tokens: Vec<Self> = Vec::new();
        for (index, part) in parts.filter(|part| !part.is_empty()).enumerate() {
            let error = |(name, reason): (Option<&str>, String)| GivenTokenError::Token {
                number: index + 1,
                name: name.map(|name| format!(" (`{name}`)")).unwrap_or_default(),
                reason,
            };
            let token = read(part).map_err(error)?;
            let name = &*token.caller.name;
            if name == ROOT || tokens.iter().any(|other| *other.caller.name == *name) {
                return Err(error((Some(name), "the name is given twice".to_owned())));
            }
            tokens.push(token);
        }
        Ok(tokens)
    }
}

/// Refuses what is no name of a token.
///
/// # Errors
/// Why it is none.
pub(crate) fn check_name(name: &str) -> Result<(), String> {
    // What is noted as done by others than tokens has a colon.
    RoomId::check(name).map_err(|_| "a name has 1 to 64 letters, digits, `_` and `-`".to_owned())
}

/// Reads one token; an error names the token, if it has a name that may be shown.
fn read(text: &str) -> Result<GivenToken, (Option<&str>, String)> {
    let parts: Vec<_> = text.split(':').map(str::trim).collect();
    let (name, role, rooms, token) = match parts[..] {
        [name, role, token] => (name, role, "", token),
        [name, role, rooms, token] => (name, role, rooms, token),
        _ => {
            return Err((None, format!("it has {} parts, not 3 or 4", parts.len())));
        }
    };
    check_name(name).map_err(|reason| (None, reason))?;
    let named = |reason: String| (Some(name), reason);
    let role = role.parse().map_err(|error| named(format!("{error}")))?;
    let rooms = rooms.split(',').map(str::trim).filter(|room| !room.is_empty());
    let rooms: Result<Vec<_>, _> = rooms.map(str::parse).collect();
    let rooms = RoomScope::new(rooms.map_err(|error| named(format!("{error}")))?);
    if parts.len() == 4 && rooms.is_whole() {
        return Err(named("it names no room: leave that part out for all rooms".to_owned()));
    }
    if token.len() < MIN_TOKEN_BYTES || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        let reason = format!(
            "the token must have at least {MIN_TOKEN_BYTES} bytes, printable ASCII and no spaces"
        );
        return Err(named(reason));
    }
    Ok(GivenToken { digest: digest(token), caller: Caller::new(name, role, rooms) })
}

#[cfg(test)]
mod tests {
    use vestibule_domain::access::Role;

    use super::*;

    const TOKEN: &str = "0123456789abcdef";

    fn error(text: &str) -> String {
        GivenToken::read_all(text).unwrap_err().to_string()
    }

    #[test]
    fn each_line_is_a_token() {
        let text = format!(
            "# of the dashboards\ngrafana:viewer:{TOKEN}\n\n ci:operator:sale-*, vip:{TOKEN}2 ; ops:admin:{TOKEN}3;"
        );
        let tokens = GivenToken::read_all(&text).unwrap();
        let callers = tokens.iter().map(|token| (&*token.caller.name, token.caller.role));
        let callers: Vec<_> = callers.collect();
        let expected = [("grafana", Role::Viewer), ("ci", Role::Operator), ("ops", Role::Admin)];
        assert_eq!(callers, expected);
        assert!(tokens[1].caller.rooms.covers("vip") && !tokens[1].caller.rooms.covers("x"));
        assert_eq!(tokens[0].digest, digest(TOKEN));
        assert!(GivenToken::read_all("").unwrap().is_empty());
    }

    #[test]
    fn what_is_wrong_is_named_without_the_token() {
        for (text, reason) in [
            ("ci:TOKEN", "token 1: it has 2 parts"),
            ("ci:boss:TOKEN", "token 1 (`ci`): a role is viewer, operator or admin"),
            ("a b:viewer:TOKEN", "token 1: a name has"),
            ("ok:viewer:TOKEN;ci:viewer:a/b:TOKEN", "token 2 (`ci`): a room is named by"),
            ("ci:viewer::TOKEN", "it names no room"),
            ("ci:viewer:short", "at least 16 bytes"),
            ("ci:viewer:TOKEN TOKEN", "no spaces"),
            ("ci:viewer:TOKENü", "printable ASCII"),
            ("ci:viewer:TOKEN;ci:viewer:TOKEN", "the name is given twice"),
            ("root:viewer:TOKEN", "the name is given twice"),
        ] {
            let error = error(&text.replace("TOKEN", TOKEN));
            assert!(error.contains(reason), "{error}");
            assert!(!error.contains(TOKEN) && !error.contains("short"), "{error}");
        }
    }

    #[test]
    fn a_token_is_ones_alone() {
        let all = |others: &str| {
            let others = others.replace("TOKEN", TOKEN);
            GivenToken::all(&TOKEN.into(), &others).map_err(|error| error.to_string())
        };
        assert_eq!(all("ci:viewer:TOKEN2").unwrap().len(), 2);
        for (others, names) in [
            ("ci:viewer:TOKEN", ["`ci`", "`root`"]),
            ("a:admin:TOKEN2;b:viewer:TOKEN2", ["`b`", "`a`"]),
        ] {
            let error = all(others).unwrap_err();
            let [later, earlier] = names;
            assert!(error.contains(&format!("of {later} is that of {earlier}")), "{error}");
            assert!(!error.contains(TOKEN), "{error}");
        }
    }

    #[test]
    fn the_built_in_token_can_be_shown_in_a_header() {
        let is_taken = |text: &str| {
            GivenToken::all(&text.into(), "").map(drop).map_err(|error| error.to_string())
        };
        assert_eq!(is_taken(TOKEN), Ok(()));
        assert_eq!(is_taken("some words of a sentence"), Ok(()));
        let blank = " ".repeat(20);
        let around = format!(" {TOKEN} ");
        let line = format!("{TOKEN}\n");
        for text in [&*blank, &around, &line, "üüüüüüüüüüüüüüüü", "0123456789abcdef\u{7f}"]
        {
            let error = is_taken(text).unwrap_err();
            assert!(error.starts_with("VESTIBULE_API_TOKEN must be"), "{error}");
            assert!(!error.contains(text), "{error}");
        }
    }
}

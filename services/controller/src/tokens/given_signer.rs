//! Keys by which requests are signed that an option gives: `VESTIBULE_SIGV4_KEYS`, each as `KEYID:SECRET`. Other than
//! tokens they are kept as they are, in memory alone, because a signature cannot be checked by a hash.

use secrecy::SecretString;
use vestibule_domain::access::{Role, RoomScope};
use vestibule_runtime::secret::SecretError;
use vestibule_token::SigV4Key;

use super::given::{GivenToken, MIN_TOKEN_BYTES, check_name};
use crate::access::Caller;

/// A key that an option has. It is for the private AWS-style calls of all rooms.
#[derive(Debug, Clone)]
pub(crate) struct GivenSigner {
    /// Whose it is; its name is the access key id.
    pub(super) caller: Caller,
    pub(super) key: SigV4Key,
}

/// Why the keys of the option cannot be used. Never says a secret.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GivenSignerError {
    /// They cannot be read.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// One is not as it must be.
    #[error(
        "VESTIBULE_SIGV4_KEYS: key {number}{name}: {reason}. Each is `KEYID:SECRET`, separated by commas, or one a line"
    )]
    Key {
        /// Which of them, from 1.
        number: usize,
        /// Its id, if it has one that may be shown.
        name: String,
        /// What is wrong.
        reason: String,
    },
}

// === impl GivenSigner ===

impl GivenSigner {
    /// The keys of a text; lines that are empty or begin with `#` do not count. `tokens` have their names already.
    ///
    /// # Errors
    /// [`GivenSignerError`] for the first that is wrong.
    pub(crate) fn read_all(
        text: &str,
        tokens: &[GivenToken],
    ) -> Result<Vec<Self>, GivenSignerError> {
        let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
        let parts = lines.flat_map(|line| line.split(',')).map(str::trim);
        let mut signers: Vec<Self> = Vec::new();
        for (index, part) in parts.filter(|part| !part.is_empty()).enumerate() {
            let error = |(name, reason): (Option<&str>, String)| GivenSignerError::Key {
                number: index + 1,
                name: name.map(|name| format!(" (`{name}`)")).unwrap_or_default(),
                reason,
            };
            let signer = read(part).map_err(error)?;
            let name = &*signer.caller.name;
            let mut names = tokens.iter().map(|token| &*token.caller.name);
            if names.any(|other| other == name)
                || signers.iter().any(|other| *other.caller.name == *name)
            {
                return Err(error((Some(name), "a token or a key has this name".to_owned())));
            }
            signers.push(signer);
        }
        Ok(signers)
    }
}

/// Reads one key; an error names its id, if that may be shown.
fn read(text: &str) -> Result<GivenSigner, (Option<&str>, String)> {
    let Some((key_id, secret)) = text.split_once(':') else {
        return Err((None, "it has no `:`".to_owned()));
    };
    let (key_id, secret) = (key_id.trim(), secret.trim());
    check_name(key_id)
        .map_err(|_| (None, "a key id has 1 to 64 letters, digits, `_` and `-`".to_owned()))?;
    check_secret(secret).map_err(|reason| (Some(key_id), reason))?;
    let caller = Caller::new(key_id, Role::Operator, RoomScope::default());
    Ok(GivenSigner { caller, key: SigV4Key::new(SecretString::from(secret), None) })
}

/// Refuses what is too short for a secret, or cannot be one.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn check_secret(secret: &str) -> Result<(), String> {
    if (MIN_TOKEN_BYTES..=256).contains(&secret.len())
        && secret.bytes().all(|byte| byte.is_ascii_graphic())
    {
        return Ok(());
    }
    Err(format!("a secret has {MIN_TOKEN_BYTES} to 256 printable ASCII characters, and no spaces"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfi";

    fn read_all(text: &str) -> Result<Vec<GivenSigner>, String> {
        let tokens = GivenToken::read_all("ci:viewer:0123456789abcdef").unwrap();
        GivenSigner::read_all(text, &tokens).map_err(|error| error.to_string())
    }

    #[test]
    fn each_pair_is_a_key_for_the_private_calls_of_all_rooms() {
        let text =
            format!("AKIDONE:{SECRET}, AKIDTWO:{SECRET}=\n# of the inlet\n\nAKID-3:{SECRET}");
        let signers = read_all(&text).unwrap();
        let names: Vec<_> = signers.iter().map(|signer| &*signer.caller.name).collect();
        assert_eq!(names, ["AKIDONE", "AKIDTWO", "AKID-3"]);
        assert!(signers.iter().all(|signer| signer.caller.role == Role::Operator));
        assert!(signers.iter().all(|signer| signer.caller.rooms.is_whole()));
        assert!(read_all("").unwrap().is_empty());
    }

    #[test]
    fn what_is_wrong_is_named_without_the_secret() {
        for (text, reason) in [
            ("SECRET", "key 1: it has no `:`"),
            ("A B:SECRET", "key 1: a key id has"),
            (":SECRET", "key 1: a key id has"),
            ("OK:SECRET,AKID:short", "key 2 (`AKID`): a secret has 16 to 256"),
            ("AKID:SECRET with spaces", "key 1 (`AKID`): a secret has"),
            ("AKID:SECRET,AKID:SECRET", "key 2 (`AKID`): a token or a key has this name"),
            ("ci:SECRET", "key 1 (`ci`): a token or a key has this name"),
        ] {
            let error = read_all(&text.replace("SECRET", SECRET)).unwrap_err();
            assert!(error.contains(reason), "{error}");
            assert!(!error.contains(SECRET) && !error.contains("short"), "{error}");
        }
    }
}

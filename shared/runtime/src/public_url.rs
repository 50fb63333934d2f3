//! `VESTIBULE_PUBLIC_URL`: the address that visitors see. Both services read it here, because what one of them builds on it,
//! such as issuers, the other one recognizes.

use axum::http::{Uri, uri::Scheme};

/// The option cannot be used. It is not shown, since it may have a password in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "VESTIBULE_PUBLIC_URL {0}: give the address by which visitors reach admission, such as https://wait.example, or leave it \
     out"
)]
pub struct PublicUrlError(&'static str);

/// The address without slashes at its end; `None` if it is not given, or blank.
///
/// # Errors
/// If it is no address that paths can be added to.
pub fn read_public_url(given: Option<&str>) -> Result<Option<String>, PublicUrlError> {
    let Some(text) = given.map(str::trim).filter(|text| !text.is_empty()) else { return Ok(None) };
    // The parser drops what comes after a `#`.
    if text.contains(['?', '#']) {
        return Err(PublicUrlError("must have no query and no fragment"));
    }
    let uri: Uri = text.parse().map_err(|_| PublicUrlError("is no address"))?;
    if ![Some(&Scheme::HTTP), Some(&Scheme::HTTPS)].contains(&uri.scheme()) {
        return Err(PublicUrlError("must begin with http:// or https://"));
    }
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    if authority.contains('@') {
        return Err(PublicUrlError("must have no user and no password"));
    }
    if uri.host().is_none_or(str::is_empty) {
        return Err(PublicUrlError("must have a host"));
    }
    Ok(Some(text.trim_end_matches('/').to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_taken_without_the_slash_at_its_end() {
        for (given, read) in [
            ("https://wait.example", "https://wait.example"),
            ("https://wait.example/", "https://wait.example"),
            (" http://localhost:8080/queue/ ", "http://localhost:8080/queue"),
            ("http://[::1]:8080", "http://[::1]:8080"),
        ] {
            assert_eq!(read_public_url(Some(given)), Ok(Some(read.to_owned())), "{given}");
        }
    }

    #[test]
    fn blank_is_as_if_it_were_not_given() {
        for given in [None, Some(""), Some("   ")] {
            assert_eq!(read_public_url(given), Ok(None), "{given:?}");
        }
    }

    #[test]
    fn what_paths_cannot_be_added_to_is_refused_and_not_shown() {
        for (given, reason) in [
            ("wait.example", "must begin with"),
            ("ftp://wait.example", "must begin with"),
            ("/queue", "must begin with"),
            ("https://", "is no address"),
            ("https://:443", "must have a host"),
            ("https://wait example", "is no address"),
            ("https://wait.example/?secret", "no query"),
            ("https://wait.example/#secret", "no fragment"),
            ("https://shop:secret@wait.example", "no password"),
        ] {
            let error = read_public_url(Some(given)).unwrap_err().to_string();
            assert!(
                error.starts_with("VESTIBULE_PUBLIC_URL ") && error.contains(reason),
                "{error}"
            );
            assert!(!error.contains("secret"), "{error}");
        }
    }
}

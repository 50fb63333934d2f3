//! Logos of rooms, as they are sent: which images they may be.

use vestibule_site::Logo;

use base64::{Engine, engine::general_purpose::STANDARD};

/// The longest logo, in bytes: it is part of every page.
pub(crate) const MAX_LOGO: usize = 32 * 1024;

/// Why an image cannot be a logo.
pub(crate) const NO_IMAGE: &str = "must be an image/png, image/jpeg, image/gif, image/webp or image/svg+xml, as its \
     media type says, of at most 32 KiB";

/// The logo of these bytes; `None`: see [`NO_IMAGE`].
pub(crate) fn logo(media_type: &str, bytes: &[u8]) -> Option<Logo> {
    let is_one = bytes.len() <= MAX_LOGO && is_image(media_type, bytes);
    is_one.then(|| Logo { media_type: media_type.to_owned(), base64: STANDARD.encode(bytes) })
}

/// Whether the bytes begin as the media type has it.
fn is_image(media_type: &str, bytes: &[u8]) -> bool {
    match media_type {
        "image/png" => bytes.starts_with(b"\x89PNG\r\n\x1a\n"),
        "image/jpeg" => bytes.starts_with(b"\xff\xd8\xff"),
        "image/gif" => bytes.starts_with(b"GIF8"),
        "image/webp" => bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP"),
        "image/svg+xml" => std::str::from_utf8(bytes).is_ok_and(|text| text.contains("<svg")),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_what_it_says_that_it_is() {
        let is = |media_type: &str, bytes: &[u8]| logo(media_type, bytes).is_some();
        assert!(is("image/png", b"\x89PNG\r\n\x1a\n..."));
        assert!(is("image/svg+xml", b"<?xml version='1.0'?><svg/>"));
        assert!(is("image/webp", b"RIFF\0\0\0\0WEBPVP8 "));
        assert!(!is("image/gif", &b"GIF8".repeat(MAX_LOGO)));
        for (media_type, bytes) in [
            ("image/png", &b"<svg/>"[..]),
            ("image/jpeg", b"\x89PNG\r\n\x1a\n"),
            ("image/svg+xml", b"\xff\xfe<svg/>"),
            ("image/svg+xml", b"<html></html>"),
            ("text/html", b"<svg/>"),
            ("image/png\"><script>", b"\x89PNG\r\n\x1a\n"),
            ("", b""),
        ] {
            assert!(!is(media_type, bytes), "{media_type}");
        }
    }
}

//! The operator's logo: what is taken for one, and where a page has it from. It is a picture and nothing else: in
//! an `img` no script of an SVG runs, and nothing that it names is loaded.

use base64::{Engine, engine::general_purpose::STANDARD};
use imagesize::ImageType;
use sha2::{Digest, Sha256};
use vestibule_site::Logo;

/// The longest logo, in bytes: in the place of a site's page, where no other address of ours can be had, it is part
/// of the page.
pub const MAX_LOGO: usize = 32 * 1024;
/// The longest side, in pixels. It is shown at most 192 pixels wide; of a few bytes an image of any size can be made,
/// which every visitor's browser would unfold.
const MAX_SIDE: usize = 2_000;

/// A room's logo, as pages are given it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageLogo {
    /// Such as `image/png`.
    pub media_type: String,
    /// The image.
    pub bytes: Vec<u8>,
    /// Names these very bytes, so that a browser may keep them: the first 32 hexadecimal digits of their SHA-256.
    pub digest: String,
    data_uri: String,
}

/// Where the page has the logo from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogoSource {
    /// From the page itself: a `data:` URI.
    Page(String),
    /// From this address on the page's own origin.
    Origin(String),
}

/// What was sent is no logo.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LogoError {
    /// The media type is none of those.
    #[error("Content-Type must be image/png, image/jpeg, image/gif, image/webp or image/svg+xml")]
    MediaType,
    /// The bytes do not begin as those of such an image do.
    #[error("the body is not such an image as Content-Type says")]
    Bytes,
    /// It has a side of no pixels or of too many.
    #[error("the image has {width} x {height} pixels: each side must have from 1 to {MAX_SIDE}")]
    Pixels {
        /// Its width.
        width: usize,
        /// Its height.
        height: usize,
    },
}

// === impl PageLogo ===

impl PageLogo {
    /// The stored one; `None`: it cannot be read, which does not happen to one that was checked.
    #[must_use]
    pub fn read(logo: &Logo) -> Option<Self> {
        let Logo { media_type, base64 } = logo;
        let bytes = STANDARD.decode(base64).ok()?;
        let digest = hex::encode(&Sha256::digest(&bytes)[..16]);
        let data_uri = format!("data:{media_type};base64,{base64}");
        Some(Self { media_type: media_type.clone(), bytes, digest, data_uri })
    }

    /// Where a page has it from: below `addresses` of its own origin, or, without, from itself.
    #[must_use]
    pub fn source(&self, addresses: Option<&str>) -> LogoSource {
        match addresses {
            Some(addresses) => LogoSource::Origin(format!("{addresses}/{}", self.digest)),
            None => LogoSource::Page(self.data_uri.clone()),
        }
    }
}

// === impl LogoSource ===

impl LogoSource {
    /// The value of `src`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Page(address) | Self::Origin(address) => address,
        }
    }
}

/// Whether `bytes` are an image of this media type that can be a logo.
///
/// # Errors
/// What is wrong with it.
pub fn check_logo(media_type: &str, bytes: &[u8]) -> Result<(), LogoError> {
    let expected = match media_type {
        "image/png" => ImageType::Png,
        "image/jpeg" => ImageType::Jpeg,
        "image/gif" => ImageType::Gif,
        "image/webp" => ImageType::Webp,
        "image/svg+xml" => {
            // Shown at the size that the page gives it.
            let is_svg = std::str::from_utf8(bytes).is_ok_and(|text| text.contains("<svg"));
            return if is_svg { Ok(()) } else { Err(LogoError::Bytes) };
        }
        _ => return Err(LogoError::MediaType),
    };
    let found = imagesize::image_type(bytes).map_err(|_| LogoError::Bytes)?;
    if found != expected {
        return Err(LogoError::Bytes);
    }
    let size = imagesize::blob_size(bytes).map_err(|_| LogoError::Bytes)?;
    let (width, height) = (size.width, size.height);
    let fits = |side| (1..=MAX_SIDE).contains(&side);
    if fits(width) && fits(height) { Ok(()) } else { Err(LogoError::Pixels { width, height }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The head of a PNG of this size.
    fn png(width: u32, height: u32) -> Vec<u8> {
        let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        bytes.extend(width.to_be_bytes());
        bytes.extend(height.to_be_bytes());
        bytes.extend(b"\x08\x06\0\0\0");
        bytes
    }

    fn gif(width: u16, height: u16) -> Vec<u8> {
        [&b"GIF89a"[..], &width.to_le_bytes(), &height.to_le_bytes(), b"\0\0\0"].concat()
    }

    const JPEG: &[u8] = b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0\xff\xc0\0\x11\x08\0\x30\0\xc0\x03\x01\x22\0\x02\x11\x01\x03\x11\x01";
    const WEBP: &[u8] = b"RIFF\x1a\0\0\0WEBPVP8L\x0d\0\0\0\x2f\xbf\xc0\x0b\0\0\0\0\0\0\0\0\0";

    #[test]
    fn an_image_is_what_it_says_that_it_is() {
        let svg = b"<?xml version='1.0'?><svg/>".to_vec();
        for (media_type, bytes) in [
            ("image/png", png(192, 48)),
            ("image/gif", gif(192, 48)),
            ("image/jpeg", JPEG.to_vec()),
            ("image/webp", WEBP.to_vec()),
            ("image/svg+xml", svg.clone()),
        ] {
            assert_eq!(check_logo(media_type, &bytes), Ok(()), "{media_type}");
        }
        for (media_type, bytes) in [
            ("image/png", svg),
            ("image/png", b"\x89PNG\r\n\x1a\n".to_vec()),
            ("image/jpeg", png(9, 9)),
            ("image/gif", b"GIF89a".to_vec()),
            ("image/svg+xml", b"\xff\xfe<svg/>".to_vec()),
            ("image/svg+xml", b"<html></html>".to_vec()),
            ("image/webp", Vec::new()),
        ] {
            assert_eq!(check_logo(media_type, &bytes), Err(LogoError::Bytes), "{media_type}");
        }
        for media_type in ["text/html", "image/png\"><script>", "image/tiff", ""] {
            assert_eq!(check_logo(media_type, &png(9, 9)), Err(LogoError::MediaType));
        }
    }

    #[test]
    fn its_address_changes_with_it() {
        let read = |base64: &str| {
            PageLogo::read(&Logo { media_type: "image/png".into(), base64: base64.into() })
        };
        let logo = read("AAAA").unwrap();
        let digest = "709e80c88487a2411e1ee4dfb9f22a86";
        assert_eq!(
            logo.source(Some("room/logo")),
            LogoSource::Origin(format!("room/logo/{digest}"))
        );
        assert_eq!(logo.source(None), LogoSource::Page("data:image/png;base64,AAAA".into()));
        assert_ne!(read("AAAB").unwrap().digest, logo.digest);
        assert_eq!(read("not base64"), None);
    }

    #[test]
    fn one_that_unfolds_to_much_is_refused() {
        let big = check_logo("image/png", &png(20_000, 10)).unwrap_err();
        assert_eq!(
            big.to_string(),
            "the image has 20000 x 10 pixels: each side must have from 1 to 2000"
        );
        assert!(check_logo("image/gif", &gif(0, 5)).is_err());
        assert!(check_logo("image/png", &png(2_000, 2_000)).is_ok());
    }
}

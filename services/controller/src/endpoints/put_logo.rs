//! `PUT /v1/rooms/{room}/logo`

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::StatusCode,
};
use base64::{Engine, engine::general_purpose::STANDARD};
use vestibule_domain::schedule::RoomConfig;
use vestibule_runtime::{Problem, ProblemType, extract::Path};
use vestibule_site::Logo;

use crate::{
    audit::Trail,
    endpoints::responses::{BodyRefusals, Busy, InvalidRequest, NoSuchRoom, Refusals},
    extractors::{RoomPath, Upload},
    rooms::Rollout,
    state::Controller,
};

/// The longest logo, in bytes: it is part of every page.
const MAX_LOGO: usize = 32 * 1024;

/// Puts a logo on a room's default page.
///
/// An image of at most 32 KiB: PNG, JPEG, GIF, WebP or SVG. It becomes part of the page, so nothing
/// is loaded from elsewhere; in an SVG no script runs.
#[utoipa::path(
    put, path = "/v1/rooms/{room}/logo", tag = "pages",
    params(RoomPath),
    request_body(content = Vec<u8>, content_type = "image/png", description = "The image, with its media type as `Content-Type`"),
    responses(
        (status = 204, description = "Taken"),
        BodyRefusals, Busy, InvalidRequest, NoSuchRoom, Refusals,
    )
)]
pub(crate) async fn put_logo(
    State(controller): State<Arc<Controller>>,
    trail: Trail,
    Path(RoomPath { room }): Path<RoomPath>,
    request: Request,
) -> Result<(StatusCode, Rollout), Problem> {
    let upload = Upload::read(request, MAX_LOGO).await?;
    if !is_image(&upload) {
        return Err(Problem::new(ProblemType::InvalidRequest).detail(
            "Content-Type must be image/png, image/jpeg, image/gif, image/webp or image/svg+xml, \
             and the body such an image",
        ));
    }
    controller.rooms.require_whole_keyspace().await?;
    let base64 = STANDARD.encode(&upload.bytes);
    let logo = Logo { media_type: upload.media_type, base64 };
    let change = |config: &mut RoomConfig| {
        config.binding.branding.logo = Some(logo.clone());
        Ok(())
    };
    let ((), rollout) = controller.configs.change(&trail, &room, change).await?;
    Ok((StatusCode::NO_CONTENT, rollout))
}

/// Whether the bytes begin as the media type has it.
fn is_image(upload: &Upload) -> bool {
    let bytes = &upload.bytes[..];
    match upload.media_type.as_str() {
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
        let is = |media_type: &str, bytes: &'static [u8]| {
            is_image(&Upload { media_type: media_type.into(), bytes: bytes.into() })
        };
        assert!(is("image/png", b"\x89PNG\r\n\x1a\n..."));
        assert!(is("image/svg+xml", b"<?xml version='1.0'?><svg/>"));
        assert!(is("image/webp", b"RIFF\0\0\0\0WEBPVP8 "));
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

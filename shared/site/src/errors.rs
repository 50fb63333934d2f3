//! The validation of a room's binding, field by field. Hosts, networks and conditions are already
//! validated when they are deserialized.

use std::borrow::Cow;

use super::{CookieAttributes, Origin, SameSite, Secure, SiteBinding, TextBounds};

/// A field with an invalid value, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    /// The field's path in the API: `routes[1].host`.
    pub field: Cow<'static, str>,
    /// What is wrong and how to correct it.
    pub reason: String,
}

/// The codes of the page's languages.
pub const LANGUAGES: [&str; 12] =
    ["en", "de", "fr", "es", "pt", "it", "nl", "pl", "ja", "zh", "ko", "ar"];
/// The HTTP statuses that the page may have.
pub const QUEUEING_STATUS_CODES: [u16; 4] = [200, 202, 429, 503];
/// The most routes of a room.
pub const MAX_ROUTES: usize = 100;
/// The most origins of a room in one list.
pub const MAX_ORIGINS: usize = 100;
/// The most bypass rules of a room.
pub const MAX_RULES: usize = 100;
/// What the text of a logo may be.
const LOGO_ALT: TextBounds = TextBounds { characters: 200, has_lines: false };
/// The longest text, in bytes.
pub(crate) const MAX_TEXT: usize = 1_024;

/// The schema of `queueing_status_code`, for the API document.
#[cfg(feature = "openapi")]
pub(crate) fn status_code_schema() -> utoipa::openapi::Object {
    utoipa::openapi::ObjectBuilder::new()
        .schema_type(utoipa::openapi::schema::Type::Integer)
        .enum_values(Some(QUEUEING_STATUS_CODES))
        .default(Some(200.into()))
        .description(Some(
            "The HTTP status of the waiting page. Where 2xx would let the request pass, 503 is \
             sent instead",
        ))
        .build()
}

// === impl SiteBinding ===

impl SiteBinding {
    /// All errors; empty when there are none. Conflicts with the routes of other rooms are found by
    /// [`super::Coverage::conflicts`].
    #[must_use]
    pub fn errors(&self) -> Vec<FieldError> {
        let others = [
            self.country_header_error(),
            self.cookie.same_site_error(),
            self.cookie.partitioned_error(),
            self.cookie.suffix_error(),
            self.status_error(),
            self.language_error(),
            origins_error("cors_origins", &self.cors_origins),
            origins_error("return_origins", &self.return_origins),
        ];
        let mut errors = self.route_errors();
        errors.extend(self.rule_errors());
        errors.extend(self.client_errors());
        errors.extend(others.into_iter().flatten());
        let alt = self.logo_alt.iter().flat_map(|alt| alt.errors("logo_alt", LOGO_ALT));
        errors.extend(alt);
        errors
    }

    fn route_errors(&self) -> Vec<FieldError> {
        if self.routes.len() > MAX_ROUTES {
            return vec![error("routes", format!("must be at most {MAX_ROUTES}"))];
        }
        let of_one = |(index, route): (usize, &super::Route)| {
            let same = self.routes[..index].iter().position(|other| other.is_same_place(route));
            let twice =
                same.map(|same| error(format!("routes[{index}]"), format!("is routes[{same}]")));
            let path = route.path_error();
            path.map(|reason| error(format!("routes[{index}].path"), reason)).or(twice)
        };
        self.routes.iter().enumerate().filter_map(of_one).collect()
    }

    fn country_header_error(&self) -> Option<FieldError> {
        let name = self.country_header.as_ref()?;
        let reason = "must be the name of a header, or null";
        (!is_token(name)).then(|| error("country_header", reason))
    }

    fn status_error(&self) -> Option<FieldError> {
        let status = self.queueing_status_code;
        let allowed = QUEUEING_STATUS_CODES.contains(&status);
        let reason = || format!("must be 200, 202, 429 or 503, and is {status}");
        (!allowed).then(|| error("queueing_status_code", reason()))
    }

    fn language_error(&self) -> Option<FieldError> {
        let language = self.default_language.as_str();
        let reason = || format!("must be one of {}", LANGUAGES.join(", "));
        (!LANGUAGES.contains(&language)).then(|| error("default_language", reason()))
    }
}

// === impl CookieAttributes ===

impl CookieAttributes {
    fn same_site_error(&self) -> Option<FieldError> {
        let wrong = self.same_site == SameSite::None && self.secure == Secure::Never;
        let reason = "cannot be none while secure is never: browsers refuse such a cookie";
        wrong.then(|| error("cookie.same_site", reason))
    }

    fn partitioned_error(&self) -> Option<FieldError> {
        let wrong = self.partitioned && self.secure == Secure::Never;
        let reason = "cannot be while secure is never: browsers refuse such a cookie";
        wrong.then(|| error("cookie.partitioned", reason))
    }

    fn suffix_error(&self) -> Option<FieldError> {
        let suffix = self.suffix.as_ref()?;
        let letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let well = (1..=Self::MAX_SUFFIX).contains(&suffix.len()) && suffix.bytes().all(letter);
        let reason = "must be 1 to 32 letters, digits, `_` and `-`, or null";
        (!well).then(|| error("cookie.suffix", reason))
    }
}

fn origins_error(field: &'static str, origins: &[Origin]) -> Option<FieldError> {
    let many = origins.len() > MAX_ORIGINS;
    many.then(|| error(field, format!("must be at most {MAX_ORIGINS}")))
}

/// Whether `name` can be the name of a header, a method or a cookie: 1 to 1,024 characters of a
/// token (RFC 9110, 5.6.2).
#[must_use]
pub fn is_token(name: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    (1..=MAX_TEXT).contains(&name.len()) && name.bytes().all(letter)
}

pub(crate) fn error(field: impl Into<Cow<'static, str>>, reason: impl Into<String>) -> FieldError {
    FieldError { field: field.into(), reason: reason.into() }
}

//! The issuers that nobody may choose: those of rooms as providers of OpenID Connect, `{public URL}/oidc/{room}`. The same
//! keys sign all tokens, so that whoever chose one could make tokens of that provider. Its tokens are made by admission.

use vestibule_domain::{FieldError, settings::RoomSettings};

/// What those of providers begin with.
#[derive(Debug, Clone)]
pub(crate) struct ProviderIssuers {
    /// `{public URL}/oidc`; `None`: the public URL is not known here.
    base: Option<String>,
}

// === impl ProviderIssuers ===

impl ProviderIssuers {
    /// Those of a deployment with this public URL, as its admissions have it; without a slash at its end.
    pub(crate) fn new(public_url: Option<&str>) -> Self {
        Self { base: public_url.map(|url| format!("{url}/oidc")) }
    }

    /// Why `issuer` may not be chosen.
    pub(crate) fn error(&self, issuer: &str) -> Option<String> {
        let Some(base) = &self.base else {
            let reason = "must not have `/oidc/` in it as long as this controller has no VESTIBULE_PUBLIC_URL: below that of \
                          admission are the issuers of rooms as OpenID providers";
            return issuer.contains("/oidc/").then(|| reason.to_owned());
        };
        let rest = issuer.strip_prefix(base.as_str())?;
        let is_below = rest.is_empty() || rest.starts_with('/');
        is_below.then(|| {
            format!(
                "must not be {base} or below it: these are the issuers of rooms as OpenID providers"
            )
        })
    }

    /// What is wrong with a room's issuer, unless it was the same `before`.
    pub(crate) fn error_of_room(
        &self,
        before: Option<&RoomSettings>,
        settings: &RoomSettings,
    ) -> Option<FieldError> {
        let was = before.and_then(|before| before.issuer.as_ref());
        let issuer = settings.issuer.as_ref().filter(|issuer| Some(*issuer) != was)?;
        self.error(issuer).map(|reason| FieldError { field: "issuer".into(), reason })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_chooses_the_issuer_of_a_provider() {
        let known = ProviderIssuers::new(Some("https://wait.example/queue"));
        let unknown = ProviderIssuers::new(None);
        for (issuer, refused, refused_unknown) in [
            ("https://wait.example/queue/oidc/r1", true, true),
            ("https://wait.example/queue/oidc/", true, true),
            ("https://wait.example/queue/oidc", true, false),
            ("https://wait.example/queue/oidcs", false, false),
            ("https://wait.example/queue", false, false),
            ("https://login.example/oidc/tenant", false, true),
            ("https://abc.execute-api.eu-west-1.amazonaws.com/api", false, false),
        ] {
            assert_eq!(known.error(issuer).is_some(), refused, "{issuer}");
            assert_eq!(unknown.error(issuer).is_some(), refused_unknown, "{issuer}");
        }
    }

    #[test]
    fn what_a_room_has_already_stays() {
        let known = ProviderIssuers::new(Some("https://wait.example"));
        let issuer = Some("https://wait.example/oidc/r1".to_owned());
        let settings = RoomSettings { issuer, ..RoomSettings::default() };
        let error = |before| known.error_of_room(before, &settings).map(|error| error.field);
        assert_eq!(error(None).as_deref(), Some("issuer"));
        assert_eq!(error(Some(&settings)), None);
    }
}

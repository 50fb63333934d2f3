//! What a site sends to exchange a code, and the proof of who it is (RFC 6749, 2.3 and 4.1.3; RFC 7636, 4.5).

use axum::http::HeaderValue;
use base64::{Engine, engine::general_purpose::STANDARD};
use secrecy::SecretString;
use vestibule_site::{OidcClient, SiteBinding};
use vestibule_token::{ClientSecret, Grant};

use super::{
    TokenError,
    parameters::{NoText, Parameters, Repeated},
};

/// The request of a client that has proven who it is.
#[derive(Debug)]
pub(crate) struct TokenRequest<'a> {
    /// Who asks.
    client: &'a OidcClient,
    /// What it got through its visitor.
    pub(crate) code: String,
    redirect_uri: String,
    verifier: Option<String>,
}

/// Who somebody says to be.
struct Shown {
    client: String,
    /// What its secret may be: clients differ in whether they encode it in the header.
    secrets: Vec<ClientSecret>,
    by_header: bool,
}

// === impl TokenRequest ===

impl<'a> TokenRequest<'a> {
    /// What `form` asks for, with this header `Authorization`.
    ///
    /// # Errors
    /// [`TokenError`].
    pub(crate) fn read(
        authorization: Option<&HeaderValue>,
        form: &str,
        binding: &'a SiteBinding,
    ) -> Result<Self, TokenError> {
        let no_text = |NoText| TokenError::InvalidRequest("the form is not UTF-8");
        let form = Parameters::parse(form).map_err(no_text)?;
        let get = |name: &str| {
            let twice = TokenError::InvalidRequest("a parameter is there more than once");
            form.get(name).map_err(|Repeated| twice)
        };
        let required = |name: &str, missing| {
            get(name)?.map(str::to_owned).ok_or(TokenError::InvalidRequest(missing))
        };
        let shown = Shown::of(authorization, get("client_id")?, get("client_secret")?)?;
        let client = shown.client(binding)?;
        if required("grant_type", "grant_type is missing")? != "authorization_code" {
            return Err(TokenError::UnsupportedGrantType);
        }
        Ok(Self {
            client,
            code: required("code", "code is missing")?,
            redirect_uri: required("redirect_uri", "redirect_uri is missing")?,
            verifier: get("code_verifier")?.map(str::to_owned),
        })
    }

    /// Whether what the code stands for is this client's.
    ///
    /// # Errors
    /// [`TokenError::InvalidGrant`].
    pub(crate) fn check(&self, grant: &Grant) -> Result<(), TokenError> {
        let refused = |reason| Err(TokenError::InvalidGrant(reason));
        if grant.client != self.client.id {
            return refused("the code is not valid");
        }
        if grant.redirect_uri != self.redirect_uri || !self.client.may_return_to(&self.redirect_uri)
        {
            return refused("redirect_uri is not the one that the code was sent to");
        }
        match (&grant.challenge, &self.verifier) {
            (Some(challenge), Some(verifier)) if challenge.is_answered_by(verifier) => Ok(()),
            (None, None) if !self.client.public => Ok(()),
            (Some(_), None) => refused("code_verifier is missing"),
            _ => refused("code_verifier does not belong to the code"),
        }
    }
}

// === impl Shown ===

impl Shown {
    fn of(
        authorization: Option<&HeaderValue>,
        id: Option<&str>,
        secret: Option<&str>,
    ) -> Result<Self, TokenError> {
        let Some(authorization) = authorization else {
            let client = id.ok_or(TokenError::InvalidClient { by_header: false })?.to_owned();
            let secrets = secret.into_iter().map(shown).collect();
            return Ok(Self { client, secrets, by_header: false });
        };
        if secret.is_some() {
            let twice = "client_secret is in the form and in Authorization: send it once";
            return Err(TokenError::InvalidRequest(twice));
        }
        let (client, plain) =
            pair(authorization).ok_or(TokenError::InvalidClient { by_header: true })?;
        if id.is_some_and(|id| id != client) {
            let differ = "client_id is another one in the form than in Authorization";
            return Err(TokenError::InvalidRequest(differ));
        }
        let secrets = vec![shown(&decoded(&plain)), shown(&plain)];
        Ok(Self { client, secrets, by_header: true })
    }

    /// The client that it is proven to be.
    fn client<'a>(&self, binding: &'a SiteBinding) -> Result<&'a OidcClient, TokenError> {
        let is_it = |client: &&OidcClient| match self.secrets.as_slice() {
            [] => client.public,
            secrets => secrets.iter().any(|secret| secret.is_one_of(client.hashes())),
        };
        let client = binding.oidc_client(&self.client).filter(is_it);
        client.ok_or(TokenError::InvalidClient { by_header: self.by_header })
    }
}

/// Id and secret of `Authorization: Basic …`; the secret as it was sent.
fn pair(authorization: &HeaderValue) -> Option<(String, String)> {
    let (scheme, encoded) = authorization.to_str().ok()?.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let pair = String::from_utf8(STANDARD.decode(encoded.trim()).ok()?).ok()?;
    let (id, secret) = pair.split_once(':')?;
    Some((decoded(id), secret.to_owned()))
}

/// As forms encode (RFC 6749, 2.3.1).
fn decoded(text: &str) -> String {
    let mut pairs = form_urlencoded::parse(text.as_bytes());
    match pairs.next() {
        // What has `=` or `&` in it was not encoded.
        Some((name, value)) if value.is_empty() && !text.contains(['=', '&']) => name.into_owned(),
        _ => text.to_owned(),
    }
}

fn shown(text: &str) -> ClientSecret {
    ClientSecret::shown(SecretString::from(text))
}

#[cfg(test)]
mod tests {
    use vestibule_token::CodeChallenge;

    use super::*;

    const SECRET: &str = "p%+ =&:é";
    const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
    const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
    const FORM: &str = "grant_type=authorization_code&code=c&redirect_uri=https%3A%2F%2Fa%2Fcb";

    fn binding() -> SiteBinding {
        let client = |id: &str| OidcClient {
            id: id.into(),
            redirect_uris: vec!["https://a/cb".into(), "https://a/other".into()],
            ..OidcClient::default()
        };
        let hash = |text| ClientSecret::shown(SecretString::from(text)).hash();
        let shop =
            OidcClient { secret_hashes: Some(vec![hash("new"), hash(SECRET)]), ..client("shop") };
        let app = OidcClient { public: true, ..client("app") };
        SiteBinding { oidc_clients: vec![shop, app, client("fresh")], ..SiteBinding::default() }
    }

    fn encoded(text: &str) -> String {
        form_urlencoded::byte_serialize(text.as_bytes()).collect()
    }

    fn basic(id: &str, secret: &str) -> HeaderValue {
        let pair = STANDARD.encode(format!("{id}:{secret}"));
        HeaderValue::from_str(&format!("Basic {pair}")).unwrap()
    }

    fn read(authorization: Option<&HeaderValue>, rest: &str) -> Result<String, TokenError> {
        let (binding, form) = (binding(), format!("{FORM}&{rest}"));
        let request = TokenRequest::read(authorization, &form, &binding);
        request.map(|request| request.client.id.clone())
    }

    #[test]
    fn a_client_is_known_by_any_of_its_secrets_in_the_form_or_in_the_header() {
        let form = |secret: &str| format!("client_id=shop&client_secret={}", encoded(secret));
        for secret in ["new", SECRET] {
            assert_eq!(read(None, &form(secret)).as_deref(), Ok("shop"));
            assert_eq!(read(Some(&basic("shop", &encoded(secret))), "").as_deref(), Ok("shop"));
            // Many do not encode.
            assert_eq!(read(Some(&basic("shop", secret)), "").as_deref(), Ok("shop"));
        }
        assert_eq!(read(Some(&basic("shop", "new")), "client_id=shop").as_deref(), Ok("shop"));
        assert_eq!(read(None, "client_id=app").as_deref(), Ok("app"));
    }

    #[test]
    fn whoever_has_not_proven_who_it_is_gets_nothing() {
        for rest in [
            "",
            "client_id=shop",
            "client_id=shop&client_secret=",
            "client_id=shop&client_secret=old",
            "client_id=fresh",
            "client_id=fresh&client_secret=x",
            "client_id=app&client_secret=x",
            "client_id=none&client_secret=new",
        ] {
            assert_eq!(read(None, rest), Err(TokenError::InvalidClient { by_header: false }));
        }
        let bearer = HeaderValue::from_static("Bearer new");
        for header in [basic("shop", "old"), basic("shop", ""), basic("app", "x"), bearer] {
            let refused = Err(TokenError::InvalidClient { by_header: true });
            assert_eq!(read(Some(&header), ""), refused);
        }
        for rest in ["client_id=shop&client_secret=new", "client_id=app"] {
            let refused = read(Some(&basic("shop", "new")), rest);
            assert!(matches!(refused, Err(TokenError::InvalidRequest(_))), "{rest}");
        }
    }

    #[test]
    fn a_form_that_is_not_whole_is_refused() {
        let binding = binding();
        let refused = |form: &str| {
            let form = form.replace("SHOP", "client_id=shop&client_secret=new");
            TokenRequest::read(None, &form, &binding).map(|_| ()).unwrap_err()
        };
        for form in [
            "SHOP",
            "SHOP&grant_type=authorization_code&code=c",
            "SHOP&grant_type=authorization_code&code=%FF&redirect_uri=x",
            "SHOP&grant_type=authorization_code&redirect_uri=x",
            "SHOP&grant_type=authorization_code&code=c&code=c&redirect_uri=x",
            "SHOP&SHOP&grant_type=authorization_code&code=c&redirect_uri=x",
        ] {
            assert!(matches!(refused(form), TokenError::InvalidRequest(_)), "{form}");
        }
        let form = "SHOP&grant_type=refresh_token&refresh_token=x";
        assert_eq!(refused(form), TokenError::UnsupportedGrantType);
    }

    fn check(client: &str, challenge: Option<&str>, verifier: Option<&str>, uri: &str) -> bool {
        let binding = binding();
        let request = TokenRequest {
            client: binding
                .oidc_client("shop")
                .filter(|_| client != "app")
                .unwrap_or_else(|| binding.oidc_client("app").unwrap()),
            code: String::new(),
            redirect_uri: uri.into(),
            verifier: verifier.map(str::to_owned),
        };
        let grant = Grant {
            client: client.into(),
            redirect_uri: "https://a/cb".into(),
            nonce: None,
            challenge: challenge.and_then(CodeChallenge::parse),
            number: 1,
            entered_at: 0,
            region: 0,
            issued_at: 0,
            expires_at: 0,
            seen_at: 0,
        };
        request.check(&grant).is_ok()
    }

    #[test]
    fn a_code_is_for_its_client_its_address_and_its_verifier() {
        assert!(check("shop", None, None, "https://a/cb"));
        assert!(check("shop", Some(CHALLENGE), Some(VERIFIER), "https://a/cb"));
        assert!(check("app", Some(CHALLENGE), Some(VERIFIER), "https://a/cb"));
        assert!(!check("other", None, None, "https://a/cb"));
        assert!(!check("shop", None, None, "https://a/other"));
        assert!(!check("shop", Some(CHALLENGE), None, "https://a/cb"));
        assert!(!check("shop", Some(CHALLENGE), Some(CHALLENGE), "https://a/cb"));
        assert!(!check("shop", None, Some(VERIFIER), "https://a/cb"), "it was taken out");
        assert!(!check("app", None, None, "https://a/cb"), "it was no public client then");
    }
}

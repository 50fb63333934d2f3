//! What a site asks for when it sends its visitor to log in (OpenID Connect Core 1.0, 3.1.2.1). As long as it is not
//! certain where the visitor may be sent back to, what is wrong is told to the visitor itself.

use vestibule_site::SiteBinding;
use vestibule_token::{CodeChallenge, Login};

use super::{
    AuthorizationError as Error,
    parameters::{NoText, Parameters, Repeated},
};

/// For how long a login may be gone on with, in seconds: as long as a browser keeps its place.
const LOGIN_SECONDS: u64 = 7 * 24 * 3600;

/// How long all that the visitor carries along may be, in bytes, so that the waiting page's address stays one that every
/// server takes.
const LONGEST: usize = 2_600;

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AuthorizationRequest {
    /// What the visitor carries along.
    pub(crate) login: Login,
    /// Whether no page may be shown: only somebody who is inside is sent back with a code.
    pub(crate) without_page: bool,
}

/// Why that cannot be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refused {
    /// The visitor is told, and goes nowhere.
    Here(&'static str),
    /// The site is told.
    There {
        /// Where.
        redirect_uri: String,
        /// What the site wants back.
        state: Option<String>,
        /// What is wrong.
        error: Error,
        /// The same for people.
        description: &'static str,
    },
}

// === impl AuthorizationRequest ===

impl AuthorizationRequest {
    /// What `query` asks for at `now`, unix seconds.
    ///
    /// # Errors
    /// [`Refused`].
    pub(crate) fn read(query: &str, binding: &SiteBinding, now: u64) -> Result<Self, Refused> {
        let parameters = Parameters::parse(query);
        let parameters = parameters.map_err(|NoText| Refused::Here("the query is not UTF-8"))?;
        let here = |name: &str, missing, twice| match parameters.get(name) {
            Ok(value) => value.ok_or(Refused::Here(missing)),
            Err(Repeated) => Err(Refused::Here(twice)),
        };
        let client =
            here("client_id", "client_id is missing", "client_id is there more than once")?;
        let unknown = Refused::Here("client_id is not that of a client of this room");
        let client = binding.oidc_client(client).ok_or(unknown)?;
        let redirect_uri = here(
            "redirect_uri",
            "redirect_uri is missing",
            "redirect_uri is there more than once",
        )?;
        if !client.may_return_to(redirect_uri) {
            let reason = "redirect_uri is not exactly one of those that the client has in this room's oidc_clients";
            return Err(Refused::Here(reason));
        }
        let read = Self::wanted(&parameters).and_then(|(login, without_page)| {
            if client.public && login.challenge.is_none() {
                return Err((
                    Error::InvalidRequest,
                    "a public client must send code_challenge with code_challenge_method=S256",
                ));
            }
            let (client, redirect_uri) = (client.id.clone(), redirect_uri.to_owned());
            let login = Login { client, redirect_uri, until: now + LOGIN_SECONDS, ..login };
            check_length(&login)?;
            Ok(Self { login, without_page })
        });
        read.map_err(|(error, description)| Refused::There {
            redirect_uri: redirect_uri.to_owned(),
            state: parameters.first("state").map(str::to_owned),
            error,
            description,
        })
    }

    /// What does not depend on the client.
    fn wanted(parameters: &Parameters) -> Result<(Login, bool), (Error, &'static str)> {
        let get = |name: &str| {
            let twice = (Error::InvalidRequest, "a parameter is there more than once");
            parameters.get(name).map_err(|Repeated| twice)
        };
        refuse_objects(parameters)?;
        let state = get("state")?.map(str::to_owned);
        match get("response_type")? {
            Some("code") => {}
            Some(_) => return Err((Error::UnsupportedResponseType, "response_type must be code")),
            None => return Err((Error::InvalidRequest, "response_type is missing")),
        }
        if get("response_mode")?.is_some_and(|mode| mode != "query") {
            return Err((Error::InvalidRequest, "response_mode must be query, or left out"));
        }
        let mut scopes = get("scope")?.unwrap_or_default().split(' ');
        if !scopes.any(|scope| scope == "openid") {
            return Err((Error::InvalidScope, "scope must contain openid"));
        }
        let prompts: Vec<_> = get("prompt")?.unwrap_or_default().split(' ').collect();
        let without_page = prompts.contains(&"none");
        if without_page && prompts.len() > 1 {
            return Err((Error::InvalidRequest, "prompt=none must stand alone"));
        }
        let challenge = challenge(get("code_challenge")?, get("code_challenge_method")?)?;
        let nonce = get("nonce")?.map(str::to_owned);
        let (client, redirect_uri) = (String::new(), String::new());
        Ok((Login { client, redirect_uri, state, nonce, challenge, until: 0 }, without_page))
    }
}

/// Parameters that change what the others mean.
fn refuse_objects(parameters: &Parameters) -> Result<(), (Error, &'static str)> {
    let refused = [
        ("request", Error::RequestNotSupported, "request is not supported"),
        ("request_uri", Error::RequestUriNotSupported, "request_uri is not supported"),
        ("registration", Error::RegistrationNotSupported, "registration is not supported"),
    ];
    let is_there = |(name, ..): &(&str, _, _)| parameters.first(name).is_some();
    match refused.into_iter().find(is_there) {
        Some((_, error, description)) => Err((error, description)),
        None => Ok(()),
    }
}

fn challenge(
    challenge: Option<&str>,
    method: Option<&str>,
) -> Result<Option<CodeChallenge>, (Error, &'static str)> {
    match (challenge, method) {
        (None, None) => Ok(None),
        (Some(text), Some("S256")) => {
            let wrong = "code_challenge must be a SHA-256 in base64url without padding";
            CodeChallenge::parse(text).map(Some).ok_or((Error::InvalidRequest, wrong))
        }
        (Some(_), _) => Err((Error::InvalidRequest, "code_challenge_method must be S256")),
        (None, Some(_)) => Err((Error::InvalidRequest, "code_challenge is missing")),
    }
}

fn check_length(login: &Login) -> Result<(), (Error, &'static str)> {
    let texts = [Some(&login.client), Some(&login.redirect_uri), login.state.as_ref()];
    let texts = texts.into_iter().chain([login.nonce.as_ref()]).flatten();
    // As JSON has them: a control character or a quote is longer there.
    let length = texts.map(|text| serde_json::to_vec(text).map_or(0, |json| json.len()));
    if length.sum::<usize>() > LONGEST {
        let reason = "client_id, redirect_uri, state and nonce have more than 2,600 bytes together";
        return Err((Error::InvalidRequest, reason));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use vestibule_site::OidcClient;

    use super::*;

    const START: &str = "client_id=shop&redirect_uri=https%3A%2F%2Fshop.example%2Fcb";
    const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

    fn binding() -> SiteBinding {
        let client = |id: &str, public| OidcClient {
            id: id.into(),
            redirect_uris: vec!["https://shop.example/cb".into()],
            public,
            ..OidcClient::default()
        };
        let oidc_clients = vec![client("shop", false), client("app", true)];
        SiteBinding { oidc_clients, ..SiteBinding::default() }
    }

    fn read(query: &str) -> Result<AuthorizationRequest, Refused> {
        AuthorizationRequest::read(query, &binding(), 1_000)
    }

    #[test]
    fn state_and_nonce_are_kept_exactly() {
        let rest =
            "response_type=code&scope=profile+openid&state=a%26b%3D+c%2B%C3%A9&nonce=%22n%22";
        let request =
            read(&format!("{START}&{rest}&prompt=login&max_age=0&ui_locales=de")).unwrap();
        let login = Login {
            client: "shop".into(),
            redirect_uri: "https://shop.example/cb".into(),
            state: Some("a&b= c+é".into()),
            nonce: Some("\"n\"".into()),
            challenge: None,
            until: 1_000 + LOGIN_SECONDS,
        };
        assert_eq!(request, AuthorizationRequest { login, without_page: false });
    }

    #[test]
    fn the_visitor_goes_nowhere_until_it_is_certain_where_it_may_go() {
        let openid = "response_type=code&scope=openid";
        for start in [
            "",
            "client_id=shop",
            "redirect_uri=https%3A%2F%2Fshop.example%2Fcb",
            "client_id=other&redirect_uri=https%3A%2F%2Fshop.example%2Fcb",
            "client_id=shop&redirect_uri=https%3A%2F%2Fshop.example%2Fcb%2F",
            "client_id=shop&redirect_uri=https%3A%2F%2Fshop.example%2Fcb%3Fx",
            "client_id=shop&redirect_uri=https%3A%2F%2FSHOP.example%2Fcb",
            "client_id=shop&redirect_uri=https%3A%2F%2Fevil.example%2F",
            "client_id=shop&client_id=shop&redirect_uri=https%3A%2F%2Fshop.example%2Fcb",
            "client_id=shop&redirect_uri=https%3A%2F%2Fshop.example%2Fcb&redirect_uri=https%3A%2F%2Fe",
            "client_id=shop&redirect_uri=https%3A%2F%2Fshop.example%2Fcb&state=%FF",
        ] {
            let refused = read(&format!("{start}&{openid}")).unwrap_err();
            assert!(matches!(refused, Refused::Here(_)), "{start}: {refused:?}");
        }
    }

    #[test]
    fn whatever_else_is_wrong_is_told_to_the_site_with_its_state() {
        let openid = "response_type=code&scope=openid";
        let cases = [
            ("scope=openid".to_owned(), "invalid_request"),
            ("scope=openid&response_type=token".into(), "unsupported_response_type"),
            ("scope=openid&response_type=code+id_token".into(), "unsupported_response_type"),
            ("response_type=code".into(), "invalid_scope"),
            ("response_type=code&scope=profile".into(), "invalid_scope"),
            (format!("{openid}&response_mode=fragment"), "invalid_request"),
            (format!("{openid}&request=x"), "request_not_supported"),
            (format!("{openid}&request_uri=x"), "request_uri_not_supported"),
            (format!("{openid}&registration=x"), "registration_not_supported"),
            (format!("{openid}&prompt=none+login"), "invalid_request"),
            (format!("{openid}&nonce=a&nonce=a"), "invalid_request"),
            (format!("{openid}&code_challenge={CHALLENGE}"), "invalid_request"),
            (
                format!("{openid}&code_challenge={CHALLENGE}&code_challenge_method=plain"),
                "invalid_request",
            ),
            (format!("{openid}&code_challenge=abc&code_challenge_method=S256"), "invalid_request"),
            (format!("{openid}&code_challenge_method=S256"), "invalid_request"),
            (format!("{openid}&nonce={}", "n".repeat(LONGEST)), "invalid_request"),
        ];
        for (rest, expected) in cases {
            let refused = read(&format!("{START}&{rest}&state=s")).unwrap_err();
            let Refused::There { redirect_uri, state, error, .. } = refused else {
                panic!("{rest}: {refused:?}")
            };
            assert_eq!((error.code(), state.as_deref()), (expected, Some("s")), "{rest}");
            assert_eq!(redirect_uri, "https://shop.example/cb");
        }
    }

    #[test]
    fn a_public_client_must_use_pkce_and_another_may() {
        let rest = "redirect_uri=https%3A%2F%2Fshop.example%2Fcb&response_type=code&scope=openid";
        let pkce = format!("code_challenge={CHALLENGE}&code_challenge_method=S256");
        let refused = read(&format!("client_id=app&{rest}"));
        assert!(matches!(refused, Err(Refused::There { .. })), "{refused:?}");
        for client in ["app", "shop"] {
            let request = read(&format!("client_id={client}&{rest}&{pkce}")).unwrap();
            assert_eq!(request.login.challenge, CodeChallenge::parse(CHALLENGE));
        }
    }

    #[test]
    fn a_site_may_ask_without_showing_a_page() {
        let request = read(&format!("{START}&response_type=code&scope=openid&prompt=none"));
        assert!(request.unwrap().without_page);
    }
}

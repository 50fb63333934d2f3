//! The files of `deploy/gateways/`, and what is put into them.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};

use super::SITE_HOST;
use crate::ports;

/// The addresses of a gateway, and of what is behind it.
#[derive(Debug, Clone)]
pub struct Addresses {
    /// Where visitors come in, on 127.0.0.1.
    pub port: u16,
    /// vestibule-admission, `host:port`.
    pub vestibule: String,
    /// The port of its gRPC listener.
    pub grpc_port: u16,
    /// The site, `host:port`.
    pub site: String,
    /// The port of a second way to the site on which nobody is asked; only nginx has one.
    pub unguarded_port: Option<u16>,
    /// A directory with the public keys, for gateways that verify tokens with them.
    pub keys: PathBuf,
    /// The secret of its client, for a gateway at which visitors log in.
    pub client_secret: String,
    /// What visitors speak to the gateway.
    pub scheme: Scheme,
    /// Whether everybody is let pass while Vestibule is down, as the files say how.
    pub fails_open: bool,
    /// What stands behind the address where they come in, for TLS.
    pub(super) listen_options: String,
}

/// What visitors speak to a gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// HTTP in the clear.
    Http,
    /// HTTP over TLS, with a certificate of the gateway's own.
    Https,
}

/// The room of the gateways that verify tokens by themselves, and what it covers.
const ROOM: [(&str, &str); 2] = [("ROOM", "sale"), ("ROOM_PATH", "/sale")];

/// What the files say is to be changed so that everybody is let pass while Vestibule is down.
const FAIL_OPEN: [(&str, &str); 5] = [
    ("# set-var proc.vestibule_fail_open", "set-var proc.vestibule_fail_open"),
    ("# proxy_intercept_errors on;", "proxy_intercept_errors on;"),
    ("# error_page 500 502", "error_page 500 502"),
    ("# location @let_pass", "location @let_pass"),
    ("failure_mode_allow: false", "failure_mode_allow: true"),
];

// === impl Scheme ===

impl Scheme {
    /// Its name in addresses.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }
}

// === impl Addresses ===

impl Addresses {
    /// A gateway on a free port, in front of `site`.
    #[must_use]
    pub fn new(vestibule: &str, site: &str) -> Self {
        Self {
            port: ports::free(),
            vestibule: vestibule.to_owned(),
            grpc_port: 0,
            site: site.to_owned(),
            unguarded_port: None,
            keys: PathBuf::new(),
            client_secret: String::new(),
            scheme: Scheme::Http,
            fails_open: false,
            listen_options: String::new(),
        }
    }

    /// The variables of all configurations, by name.
    pub(super) fn variables(&self) -> Vec<(&'static str, String)> {
        let lua = deployed("haproxy/vestibule.lua");
        let (vestibule, site) = (split(&self.vestibule), split(&self.site));
        let mut variables = vec![
            ("VESTIBULE", self.vestibule.clone()),
            ("VESTIBULE_ADDRESS", vestibule.0),
            ("VESTIBULE_PORT", vestibule.1),
            ("VESTIBULE_GRPC_PORT", self.grpc_port.to_string()),
            ("VESTIBULE_LUA", lua.display().to_string()),
            ("VESTIBULE_KEYS", self.keys.display().to_string()),
            ("ISSUER", format!("http://{}", self.vestibule)),
            ("OIDC_CLIENT_ID", "envoy".to_owned()),
            ("OIDC_CLIENT_SECRET", self.client_secret.clone()),
            ("COOKIE_SECRET", "a secret of the tests of 32 bytes".to_owned()),
            ("SITE", self.site.clone()),
            ("SITE_ADDRESS", site.0),
            ("SITE_PORT", site.1),
            ("SITE_HOST", SITE_HOST.to_owned()),
            ("SITE_HOSTS", SITE_HOST.to_owned()),
            ("LISTEN", format!("127.0.0.1:{}{}", self.port, self.listen_options)),
            ("LISTEN_PORT", self.port.to_string()),
        ];
        variables.extend(ROOM.map(|(name, value)| (name, value.to_owned())));
        variables
    }

    /// The site's address as Caddy has it: its scheme says that there is no TLS.
    pub(super) fn caddy_site(&self) -> String {
        format!("http://{SITE_HOST}:{}", self.port)
    }
}

fn split(address: &str) -> (String, String) {
    let (host, port) = address.rsplit_once(':').unwrap_or((address, "80"));
    (host.to_owned(), port.to_owned())
}

/// A file of `deploy/gateways/`.
#[must_use]
pub fn deployed(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/gateways").join(name)
}

/// Puts `addresses` into a file of `deploy/gateways/`; the result lies in `dir`.
pub(super) fn render(name: &str, dir: &Path, addresses: &Addresses) -> Result<PathBuf> {
    let source = deployed(name);
    let mut text = fs::read_to_string(&source).with_context(|| format!("{}", source.display()))?;
    for (name, value) in addresses.variables() {
        text = text.replace(&format!("${{{name}}}"), &value);
    }
    ensure!(!text.contains("${"), "{name} has a variable that the tests do not know");
    let path = dir.join(source.file_name().context("a file")?);
    fs::write(&path, if addresses.fails_open { opened(&text)? } else { text })?;
    Ok(path)
}

/// A file of `deploy/gateways/` whose variables its program reads by itself.
pub(super) fn chosen(name: &str, dir: &Path, addresses: &Addresses) -> Result<PathBuf> {
    if !addresses.fails_open {
        return Ok(deployed(name));
    }
    let path = dir.join("opened");
    fs::write(&path, opened(&fs::read_to_string(deployed(name))?)?)?;
    Ok(path)
}

fn opened(text: &str) -> Result<String> {
    let opened =
        FAIL_OPEN.iter().fold(text.to_owned(), |text, (closed, open)| text.replace(closed, open));
    ensure!(opened != text, "the file does not say how everybody is let pass");
    Ok(opened)
}

//! Which gateways there are: each a program with one of the configurations offered for it.

use std::{path::Path, process::Command};

use anyhow::{Result, bail};

use super::{
    certificate,
    config::{self, Addresses, Scheme},
    found,
    replay::Documented,
};

/// A gateway with one of its configurations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// nginx, `auth_request`.
    Nginx,
    /// `HAProxy`, with our Lua file.
    Haproxy,
    /// `HAProxy`, which verifies tokens by itself.
    HaproxyLocal,
    /// Caddy, its Caddyfile.
    Caddy,
    /// Caddy, `caddy.json`.
    CaddyJson,
    /// Envoy, `ext_authz` over HTTP.
    EnvoyHttp,
    /// Envoy, `ext_authz` over gRPC.
    EnvoyGrpc,
    /// Envoy, which verifies tokens by itself.
    EnvoyLocal,
    /// Envoy, where visitors log in by OpenID Connect.
    EnvoyOauth2,
    /// One that cannot run here.
    Replayed(Documented),
}

// === impl Kind ===

impl Kind {
    /// Whether its program is on this machine.
    #[must_use]
    pub fn is_installed(self) -> bool {
        let found = match self {
            Self::Nginx => found::nginx(),
            Self::Haproxy | Self::HaproxyLocal => found::haproxy(),
            Self::Caddy | Self::CaddyJson => found::caddy(),
            Self::EnvoyHttp | Self::EnvoyGrpc | Self::EnvoyLocal | Self::EnvoyOauth2 => {
                found::envoy()
            }
            Self::Replayed(_) => return true,
        };
        found.is_ok()
    }

    /// The command that runs it with what lies in `dir`; `None` for what is replayed.
    pub(super) fn command(self, dir: &Path, addresses: &Addresses) -> Result<Option<Command>> {
        let addresses = &match addresses.scheme {
            Scheme::Http => addresses.clone(),
            Scheme::Https => self.over_tls(dir, addresses)?,
        };
        let rendered = |name: &str| config::render(name, dir, addresses);
        let command = match self {
            Self::Nginx => nginx(dir, &rendered("nginx/vestibule.conf.template")?, addresses),
            Self::Haproxy => haproxy("haproxy/haproxy.cfg", dir, addresses),
            Self::HaproxyLocal => haproxy("haproxy/local-verification.cfg", dir, addresses),
            Self::Caddy => caddy("caddy/Caddyfile", dir, addresses),
            Self::CaddyJson => caddy("caddy/caddy.json", dir, addresses),
            Self::EnvoyHttp => envoy(&rendered("envoy/ext_authz-http.yaml")?),
            Self::EnvoyGrpc => envoy(&rendered("envoy/ext_authz-grpc.yaml")?),
            Self::EnvoyLocal => envoy(&rendered("envoy/jwt_authn.yaml")?),
            Self::EnvoyOauth2 => envoy(&rendered("envoy/oauth2.yaml")?),
            Self::Replayed(_) => return Ok(None),
        };
        command.map(Some)
    }

    /// As the README of the gateway says.
    fn over_tls(self, dir: &Path, addresses: &Addresses) -> Result<Addresses> {
        let certificate = certificate::write(dir)?;
        let listen_options = match self {
            Self::Nginx => " ssl".to_owned(),
            Self::Haproxy | Self::HaproxyLocal => format!(" ssl crt {}", certificate.display()),
            other => bail!("{other:?} is not tested over TLS"),
        };
        Ok(Addresses { listen_options, ..addresses.clone() })
    }
}

/// Our file belongs into the http block of a configuration that the system brings.
fn nginx(dir: &Path, site: &Path, addresses: &Addresses) -> Result<Command> {
    let certificate = match addresses.scheme {
        Scheme::Http => String::new(),
        Scheme::Https => format!(
            "ssl_certificate {dir}/site.pem;\nssl_certificate_key {dir}/site.pem;\n",
            dir = dir.display(),
        ),
    };
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("{name}_temp_path {}/{name};\n", dir.display()))
        .concat();
    let main = format!(
        // One process, so that nothing outlives it when it is killed.
        "daemon off;\nmaster_process off;\npid {dir}/pid;\nerror_log stderr;\nevents {{}}\n\
         http {{\naccess_log off;\nkeepalive_requests 1000000;\n{temporary}{certificate}\
         include {site};\n{unguarded}}}\n",
        dir = dir.display(),
        site = site.display(),
        unguarded = addresses.unguarded_port.map(unguarded).unwrap_or_default(),
    );
    let path = dir.join("nginx.conf");
    std::fs::write(&path, main)?;
    let mut command = Command::new(found::nginx()?);
    command.arg("-c").arg(path).arg("-e").arg("stderr");
    Ok(command)
}

/// A way to the site of our file, without the authorizer.
fn unguarded(port: u16) -> String {
    format!(
        "server {{\nlisten 127.0.0.1:{port};\nlocation / {{\nproxy_pass http://site;\n\
         proxy_http_version 1.1;\nproxy_set_header Connection \"\";\n}}\n}}\n"
    )
}

fn haproxy(name: &str, dir: &Path, addresses: &Addresses) -> Result<Command> {
    let mut command = Command::new(found::haproxy()?);
    command.arg("-db").arg("-f").arg(config::chosen(name, dir, addresses)?);
    command.env_clear().envs(addresses.variables());
    Ok(command)
}

fn caddy(name: &str, dir: &Path, addresses: &Addresses) -> Result<Command> {
    let mut command = Command::new(found::caddy()?);
    command.arg("run").arg("--config").arg(config::deployed(name));
    if name.ends_with("Caddyfile") {
        command.args(["--adapter", "caddyfile"]);
    }
    command.env_clear().envs(addresses.variables());
    command.env("SITE_HOSTS", addresses.caddy_site());
    for variable in ["HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"] {
        command.env(variable, dir);
    }
    Ok(command)
}

fn envoy(config: &Path) -> Result<Command> {
    let mut command = Command::new(found::envoy()?);
    command
        .args(["--disable-hot-restart", "--concurrency", "1", "-l", "warning", "-c"])
        .arg(config);
    Ok(command)
}

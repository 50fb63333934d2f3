//! The options of traces, checked.

use std::{fs, path::Path, time::Duration};

use axum::http::{HeaderName, HeaderValue, Uri};
use percent_encoding::percent_decode_str;
use rustls::{
    RootCertStore,
    pki_types::{CertificateDer, pem::PemObject},
};
use secrecy::ExposeSecret;
use vestibule_traces::Sampling;

use super::{TraceOptions, TraceOptionsError, standard::Environment};

/// The part that is recorded if nothing else is said.
const FRACTION: f64 = 0.01;
/// How long the collector may take if nothing else is said, as OpenTelemetry has it.
const TIMEOUT: Duration = Duration::from_secs(10);

const ENDPOINT: &str = "VESTIBULE_TRACES_ENDPOINT";
const HEADERS: &str = "VESTIBULE_TRACES_HEADERS";
const CA_FILE: &str = "VESTIBULE_TRACES_CA_FILE";

/// Where traces are sent, and which.
#[derive(Debug, Clone)]
pub(super) struct TraceSettings {
    /// The whole address.
    pub(super) endpoint: Uri,
    /// What the collector wants to see. Values are marked as secret, and so are not printed.
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    /// Whom the collector's certificate must be from; `None`: the public authorities.
    pub(super) authorities: Option<RootCertStore>,
    /// How long the collector may take.
    pub(super) timeout: Duration,
    /// Which traces are recorded.
    pub(super) sampling: Sampling,
}

// === impl TraceSettings ===

impl TraceSettings {
    /// What the options say, and where they say nothing OpenTelemetry's own variables; `None`: no traces.
    ///
    /// # Errors
    /// Names the variable that cannot be used.
    pub(super) fn read(
        options: &TraceOptions,
        environment: &Environment,
    ) -> Result<Option<Self>, TraceOptionsError> {
        if environment.is_off() {
            return Ok(None);
        }
        let given = options.traces_endpoint.as_deref().filter(|url| !url.is_empty());
        let (variable, url) = match given {
            Some(url) => (ENDPOINT, with_path(url)),
            None => match environment.endpoint()? {
                Some(standard) => (standard.variable, standard.url),
                None => return Ok(None),
            },
        };
        Ok(Some(Self {
            endpoint: endpoint(variable, &url)?,
            headers: headers(options)?,
            authorities: authorities(options, environment)?,
            timeout: environment.timeout().unwrap_or(TIMEOUT),
            sampling: sampling(options, environment)?,
        }))
    }
}

/// `url`, with the usual path if it has none.
fn with_path(url: &str) -> String {
    let base = url.trim_end_matches('/');
    let host = base.split_once("://").map_or(base, |(_, rest)| rest);
    if host.contains('/') { url.to_owned() } else { format!("{base}/v1/traces") }
}

fn endpoint(variable: &'static str, url: &str) -> Result<Uri, TraceOptionsError> {
    let wrong = || {
        let reason = "give an address such as http://collector:4318 or https://collector/v1/traces, without a user \
                      or password";
        TraceOptionsError::value(variable, reason)
    };
    let uri: Uri = url.parse().map_err(|_| wrong())?;
    let has_credentials = uri.authority().is_some_and(|it| it.as_str().contains('@'));
    let is_http = matches!(uri.scheme_str(), Some("http" | "https"));
    if is_http && uri.host().is_some() && !has_credentials { Ok(uri) } else { Err(wrong()) }
}

fn sampling(
    options: &TraceOptions,
    environment: &Environment,
) -> Result<Sampling, TraceOptionsError> {
    let per_second = options.traces_per_second;
    let ours = |fraction| Sampling { fraction, by_parent: true, per_second };
    match options.traces_sampled {
        Some(fraction) => Ok(ours(fraction)),
        None => Ok(environment.sampling(per_second)?.unwrap_or_else(|| ours(FRACTION))),
    }
}

fn headers(options: &TraceOptions) -> Result<Vec<(HeaderName, HeaderValue)>, TraceOptionsError> {
    let Some(text) = options.headers_source().read_any()? else { return Ok(Vec::new()) };
    let entries = text.expose_secret().split([',', '\n']).map(str::trim);
    let entries = entries.filter(|entry| !entry.is_empty()).enumerate();
    entries.map(|(nth, entry)| header(entry).ok_or(nth + 1)).collect::<Result<_, _>>().map_err(
        |nth| {
            let reason = format!(
                "header {nth} is none: give name=value, separated by commas or lines, values percent-encoded"
            );
            TraceOptionsError::value(HEADERS, reason)
        },
    )
}

fn header(entry: &str) -> Option<(HeaderName, HeaderValue)> {
    let (name, value) = entry.split_once('=')?;
    let name = name.trim().parse().ok()?;
    let value: Vec<u8> = percent_decode_str(value.trim()).collect();
    let mut value = HeaderValue::from_bytes(&value).ok()?;
    value.set_sensitive(true);
    Some((name, value))
}

fn authorities(
    options: &TraceOptions,
    environment: &Environment,
) -> Result<Option<RootCertStore>, TraceOptionsError> {
    let ours = options.traces_ca_file.as_deref().filter(|file| !file.as_os_str().is_empty());
    if let Some(file) = ours {
        return read_authorities(CA_FILE, file).map(Some);
    }
    let standard = environment.authorities();
    standard.map(|(variable, file)| read_authorities(variable, file.as_ref())).transpose()
}

fn read_authorities(
    variable: &'static str,
    path: &Path,
) -> Result<RootCertStore, TraceOptionsError> {
    let pem = fs::read(path).map_err(|source| TraceOptionsError::Unreadable {
        variable,
        path: path.to_owned(),
        source,
    })?;
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(CertificateDer::pem_slice_iter(&pem).flatten());
    if store.is_empty() {
        let reason = format!("{} has no usable certificate in PEM", path.display());
        return Err(TraceOptionsError::value(variable, reason));
    }
    Ok(store)
}

#[cfg(test)]
mod tests;

//! When the certificate ends that a listener shows, for whoever watches it: of several in the file, the first that does.

use std::fmt;

use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric},
    metrics::{MetricType, gauge::ConstGauge},
    registry::Unit,
};

use super::reload::Tls;
use crate::metrics::Registry;

/// Reads it when it is scraped.
#[derive(Debug)]
struct Expiry(Tls);

impl Tls {
    /// Tells when its certificate ends, whichever it is at the time.
    pub fn register_metrics(&self, registry: &mut Registry) {
        registry.register_collector(Box::new(Expiry(self.clone())));
    }
}

impl Collector for Expiry {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let Some(end) = self.0.ends_at() else { return Ok(()) };
        let help = "When the certificate ends that the public address shows, or one above it";
        let (name, unit) = ("tls_certificate_expiry_timestamp", Some(&Unit::Seconds));
        let metric = encoder.encode_descriptor(name, help, unit, MetricType::Gauge)?;
        ConstGauge::new(end).encode(metric)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;
    use crate::{
        metrics::{encode, registry},
        tls::files::TlsFiles,
    };

    #[test]
    fn the_first_end_of_all_that_are_shown_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let (cert, key) = (dir.path().join("cert.pem"), dir.path().join("key.pem"));
        let pair = KeyPair::generate().unwrap();
        let chain = [2031, 2030, 2032].map(|year| {
            let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
            params.not_after = date_time_ymd(year, 1, 1);
            params.self_signed(&pair).unwrap().pem()
        });
        fs::write(&cert, chain.concat()).unwrap();
        fs::write(&key, pair.serialize_pem()).unwrap();
        let tls = Tls::load(TlsFiles { cert, key, client_ca: None }).unwrap();
        let mut registry = registry("admission", "1");
        tls.register_metrics(&mut registry);
        let text = encode(&registry).unwrap();
        let line = "vestibule_tls_certificate_expiry_timestamp_seconds 1893456000\n";
        assert!(text.contains(line), "{text}");
    }
}

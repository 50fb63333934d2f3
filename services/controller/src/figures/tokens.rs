//! When the API tokens end that do. Their names are told, as in the audit log; never more than the deployment may have.

use std::fmt;

use prometheus_client::{encoding::DescriptorEncoder, metrics::MetricType, registry::Unit};

use crate::tokens::Tokens;

/// Tells of each token when it ends.
pub(super) fn encode(
    tokens: &Tokens,
    encoder: &mut DescriptorEncoder<'_>,
) -> Result<(), fmt::Error> {
    let ends = tokens.ends();
    if ends.is_empty() {
        return Ok(());
    }
    let help = "When an API token ends, of those that do";
    let (name, unit) = ("api_token_expiry_timestamp", Some(&Unit::Seconds));
    let mut metric = encoder.encode_descriptor(name, help, unit, MetricType::Gauge)?;
    for (name, end) in ends {
        metric.encode_family(&[("token", name.as_str())])?.encode_gauge(&end)?;
    }
    Ok(())
}

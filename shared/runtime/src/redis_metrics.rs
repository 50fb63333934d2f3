//! What is measured of the servers under a service, the same for both services. The figures are
//! read by functions, because this crate knows no Redis.

use std::fmt;

use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric},
    metrics::{MetricType, counter::ConstCounter, gauge::ConstGauge},
};

/// Reads what is known of the servers when it is scraped.
pub struct RedisMetrics<A, S, F> {
    /// Whether Redis answered when it was last asked.
    pub answers: A,
    /// Answers that were given although too few replicas are known to have what they say.
    pub shortfalls: S,
    /// What is found about the servers, by name.
    pub findings: F,
}

impl<A, S, F> Collector for RedisMetrics<A, S, F>
where
    A: Fn() -> bool + Send + Sync + 'static,
    S: Fn() -> u64 + Send + Sync + 'static,
    F: Fn() -> Vec<&'static str> + Send + Sync + 'static,
{
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let answers = ConstGauge::new(i64::from((self.answers)()));
        let help = "Whether Redis answered when it was last asked";
        answers.encode(encoder.encode_descriptor(
            "redis_answers",
            help,
            None,
            MetricType::Gauge,
        )?)?;
        let shortfalls = ConstCounter::new((self.shortfalls)());
        shortfalls.encode(encoder.encode_descriptor(
            "redis_replica_shortfalls",
            "Answers given although too few replicas are known to have what they say",
            None,
            MetricType::Counter,
        )?)?;
        let findings = (self.findings)();
        if findings.is_empty() {
            return Ok(());
        }
        let help = "What is found about the servers: see their names in the README";
        let mut metric =
            encoder.encode_descriptor("redis_findings", help, None, MetricType::Gauge)?;
        for finding in findings {
            metric.encode_family(&[("finding", finding)])?.encode_gauge(&1_i64)?;
        }
        Ok(())
    }
}

impl<A, S, F> fmt::Debug for RedisMetrics<A, S, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RedisMetrics")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{encode, registry};

    #[test]
    fn findings_are_named_and_shortfalls_counted() {
        let mut registry = registry("admission", "1");
        let metrics = RedisMetrics {
            answers: || true,
            shortfalls: || 3,
            findings: || vec!["evicts", "old_version"],
        };
        registry.register_collector(Box::new(metrics));
        let text = encode(&registry).unwrap();
        for line in [
            "vestibule_redis_answers 1\n",
            "vestibule_redis_replica_shortfalls_total 3\n",
            "vestibule_redis_findings{finding=\"evicts\"} 1\n",
            "vestibule_redis_findings{finding=\"old_version\"} 1\n",
        ] {
            assert!(text.contains(line), "{line}{text}");
        }
    }
}

//! Names the numbers when they are scraped. Nothing here runs while requests do.

use std::{
    fmt,
    sync::{Arc, atomic::Ordering::Relaxed},
};

use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeLabelSet, MetricEncoder, NoLabelSet},
    metrics::MetricType,
    registry::Unit,
};

use super::{
    HttpMetrics,
    series::{RouteSeries, Series},
};

type Routes = [Arc<RouteSeries>];

impl Collector for HttpMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder) -> Result<(), fmt::Error> {
        let routes = self.routes();
        if routes.is_empty() {
            return Ok(());
        }
        requests(&mut encoder, &routes)?;
        problems(&mut encoder, &routes)?;
        durations(&mut encoder, &routes)?;
        in_flight(&mut encoder, &routes)
    }
}

fn requests(encoder: &mut DescriptorEncoder, routes: &Routes) -> Result<(), fmt::Error> {
    let help = "Requests answered";
    let mut metric = encoder.encode_descriptor("http_requests", help, None, MetricType::Counter)?;
    for (route, method, series) in called(routes) {
        for (status, count) in series.statuses() {
            let labels = [("route", route), ("method", method), ("status", status.as_str())];
            counter(&mut metric, &labels, count)?;
        }
    }
    Ok(())
}

fn problems(encoder: &mut DescriptorEncoder, routes: &Routes) -> Result<(), fmt::Error> {
    let help = "Problem documents answered";
    let mut metric = encoder.encode_descriptor("http_problems", help, None, MetricType::Counter)?;
    for (route, method, series) in called(routes) {
        for (problem, count) in series.problems() {
            let labels = [("route", route), ("method", method), ("code", problem.code())];
            counter(&mut metric, &labels, count)?;
        }
    }
    Ok(())
}

fn durations(encoder: &mut DescriptorEncoder, routes: &Routes) -> Result<(), fmt::Error> {
    let help = "Time from the request's head to the answer's";
    let unit = Some(&Unit::Seconds);
    let name = "http_request_duration";
    let mut metric = encoder.encode_descriptor(name, help, unit, MetricType::Histogram)?;
    for (route, method, series) in called(routes) {
        let buckets = series.buckets();
        let count = buckets.iter().map(|(_, count)| count).sum();
        let labels = [("route", route), ("method", method)];
        metric.encode_family(&labels)?.encode_histogram::<NoLabelSet>(
            series.seconds(),
            count,
            &buckets,
            None,
        )?;
    }
    Ok(())
}

fn in_flight(encoder: &mut DescriptorEncoder, routes: &Routes) -> Result<(), fmt::Error> {
    let name = "http_requests_in_flight";
    let help = "Requests not answered yet";
    let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
    for route in routes {
        let labels = [("route", &*route.route)];
        metric.encode_family(&labels)?.encode_gauge(&route.in_flight.load(Relaxed))?;
    }
    Ok(())
}

fn called(routes: &Routes) -> impl Iterator<Item = (&str, &'static str, &Series)> {
    routes
        .iter()
        .flat_map(|route| route.called().map(|(method, series)| (&*route.route, method, series)))
}

fn counter(
    metric: &mut MetricEncoder,
    labels: &impl EncodeLabelSet,
    count: u64,
) -> Result<(), fmt::Error> {
    metric.encode_family(labels)?.encode_counter::<NoLabelSet, _, f64>(&count, None)
}

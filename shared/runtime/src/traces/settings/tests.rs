//! What options and OpenTelemetry's own variables come to, together.

use std::io::Write;

use clap::Parser;

use super::*;

#[derive(Debug, Parser)]
struct Cli {
    #[command(flatten)]
    traces: TraceOptions,
}

type Read = Result<Option<TraceSettings>, String>;

fn read(arguments: &[&str], variables: &[(&'static str, &'static str)]) -> Read {
    let options = Cli::try_parse_from([&["test"], arguments].concat()).map_err(|it| it.to_string());
    let variables = variables.to_vec();
    let environment = Environment::new(move |name| {
        let found = variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    });
    TraceSettings::read(&options?.traces, &environment).map_err(|error| error.to_string())
}

fn settings(arguments: &[&str], variables: &[(&'static str, &'static str)]) -> TraceSettings {
    read(arguments, variables).unwrap().unwrap()
}

const OURS: [&str; 2] = ["--traces-endpoint", "http://ours:4318"];
const THEIRS: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://theirs:4318/");

#[test]
fn they_are_off_unless_an_endpoint_is_given() {
    assert!(read(&["--traces-sampled", "1"], &[]).unwrap().is_none());
    for off in [("OTEL_SDK_DISABLED", "true"), ("OTEL_TRACES_EXPORTER", "none")] {
        assert!(read(&OURS, &[THEIRS, off]).unwrap().is_none());
    }
}

#[test]
fn ours_comes_first_and_a_path_is_added_where_there_is_none() {
    let endpoint =
        |arguments: &[&str], variables| settings(arguments, variables).endpoint.to_string();
    assert_eq!(endpoint(&OURS, &[THEIRS]), "http://ours:4318/v1/traces");
    assert_eq!(endpoint(&["--traces-endpoint", "https://a/b"], &[]), "https://a/b");
    assert_eq!(endpoint(&[], &[THEIRS]), "http://theirs:4318/v1/traces");
    let traces = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://traces:1/x");
    assert_eq!(endpoint(&[], &[THEIRS, traces]), "http://traces:1/x");
}

#[test]
fn what_cannot_be_used_is_named_and_no_secret_is() {
    let wrong = |arguments: &[&str], variables: &[_]| read(arguments, variables).unwrap_err();
    for url in ["collector:4318", "grpc://a:4317", "http://user:hunter2@a:4318", "http://"] {
        let error = wrong(&["--traces-endpoint", url], &[]);
        assert!(error.starts_with("VESTIBULE_TRACES_ENDPOINT: ") && !error.contains("hunter2"));
    }
    let grpc = ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc");
    assert!(wrong(&[], &[THEIRS, grpc]).starts_with("OTEL_EXPORTER_OTLP_PROTOCOL: "));
    assert!(read(&OURS, &[grpc]).is_ok(), "ours is HTTP");
    let sampler = ("OTEL_TRACES_SAMPLER", "jaeger_remote");
    assert!(wrong(&OURS, &[sampler]).starts_with("OTEL_TRACES_SAMPLER: "));
    let headers = |text| wrong(&[OURS[0], OURS[1], "--traces-headers", text], &[]);
    for text in ["a=1,hunter2", "hunter 2=x", "a=hunter%0A2"] {
        let error = headers(text);
        assert!(error.starts_with("VESTIBULE_TRACES_HEADERS: header "), "{error}");
        assert!(!error.contains("hunter"), "{error}");
    }
    for fraction in ["1.1", "-0.1", "NaN", "half"] {
        assert!(wrong(&[&format!("--traces-sampled={fraction}")], &[]).contains("from 0 to 1"));
    }
    let missing = [OURS[0], OURS[1], "--traces-ca-file", "/no/such/file"];
    assert!(wrong(&missing, &[]).starts_with("VESTIBULE_TRACES_CA_FILE: cannot read"));
}

#[test]
fn who_is_recorded_is_said_by_us_or_by_the_sampler() {
    let sampling = |arguments: &[&str], variables: &[_]| {
        let all = [&OURS[..], arguments].concat();
        let Sampling { fraction, by_parent, per_second } = settings(&all, variables).sampling;
        (fraction, by_parent, per_second)
    };
    assert_eq!(sampling(&[], &[]), (0.01, true, 1_000));
    assert_eq!(sampling(&["--traces-sampled", "0.5"], &[]), (0.5, true, 1_000));
    let ratio = ("OTEL_TRACES_SAMPLER", "traceidratio");
    let quarter = ("OTEL_TRACES_SAMPLER_ARG", "0.25");
    assert_eq!(sampling(&[], &[ratio, quarter]), (0.25, false, 1_000));
    assert_eq!(sampling(&["--traces-sampled", "0.5"], &[ratio, quarter]), (0.5, true, 1_000));
    let parents = ("OTEL_TRACES_SAMPLER", "parentbased_always_off");
    assert_eq!(sampling(&["--traces-per-second", "7"], &[parents]), (0.0, true, 7));
}

#[test]
fn headers_come_from_a_file_too_and_are_not_printed() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    writeln!(file, "authorization=Bearer%20hunter2\nx-scope = team").unwrap();
    let path = file.path().to_str().unwrap();
    let settings = settings(&[OURS[0], OURS[1], "--traces-headers-file", path], &[]);
    let [(name, value), (_, scope)] = &*settings.headers else { panic!("two headers") };
    assert_eq!((name.as_str(), value.to_str().unwrap()), ("authorization", "Bearer hunter2"));
    assert_eq!(scope, "team");
    assert!(!format!("{settings:?}").contains("hunter2"));
}

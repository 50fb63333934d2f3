//! Times in every spelling, read and written, and texts that are refused.

use serde::{Deserialize, Serialize};

use super::*;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Moment(#[serde(with = "super")] u64);

#[test]
fn written_times_are_read_back() {
    let cases = [
        (0, "1970-01-01T00:00:00Z"),
        (951_868_799, "2000-02-29T23:59:59Z"),
        (1_000_000_000, "2001-09-09T01:46:40Z"),
        (1_767_225_599, "2025-12-31T23:59:59Z"),
        (1_767_225_600, "2026-01-01T00:00:00Z"),
        (4_107_542_400, "2100-03-01T00:00:00Z"),
        (253_402_300_799, "9999-12-31T23:59:59Z"),
    ];
    for (seconds, text) in cases {
        assert_eq!(write(seconds).as_deref(), Ok(text));
    }
    for day in 0..60_000 {
        let moment = day * 86_400 + day;
        assert_eq!(parse(&write(moment).unwrap()), Ok(moment));
    }
}

#[test]
fn json_also_accepts_numbers() {
    let read = |json| serde_json::from_str::<Moment>(json);
    assert_eq!(read("1794000000").unwrap(), Moment(1_794_000_000));
    assert_eq!(read(r#""1794000000""#).unwrap(), Moment(1_794_000_000));
    assert_eq!(read(r#""1970-01-01T00:01:00Z""#).unwrap(), Moment(60));
    assert_eq!(serde_json::to_string(&Moment(60)).unwrap(), r#""1970-01-01T00:01:00Z""#);
    for json in ["-1", "1.5", "253402300800", "null", "true", r#""soon""#] {
        let error = read(json).unwrap_err().to_string();
        assert!(error.contains("unix seconds, or RFC 3339"), "{error}");
    }
}

#[test]
fn both_spellings_mean_the_same() {
    let cases = [
        ("0", 0),
        ("1794000000", 1_794_000_000),
        ("1970-01-01T00:00:00Z", 0),
        ("2000-02-29T23:59:59Z", 951_868_799),
        ("2001-09-09T01:46:40Z", 1_000_000_000),
        ("2026-11-05T10:00:00+02:00", 1_793_865_600),
        ("2026-11-05T10:00:00 02:00", 1_793_865_600),
        ("2026-11-05t08:00:00.999z", 1_793_865_600),
        ("2026-11-05 02:30:00-05:30", 1_793_865_600),
        ("2016-12-31T23:59:60Z", 1_483_228_799),
        ("9999-12-31T23:59:59Z", 253_402_300_799),
    ];
    for (text, seconds) in cases {
        assert_eq!(parse(text), Ok(seconds), "{text}");
    }
}

#[test]
fn other_texts_are_refused() {
    let texts = [
        "",
        "-1",
        "1.5",
        "yesterday",
        "2026-11-05",
        "2026-11-05T10:00:00",
        "2026-13-05T10:00:00Z",
        "2026-02-29T10:00:00Z",
        "2026-11-05T24:00:00Z",
        "2026-11-05T10:00:00.Z",
        "2026-11-05T10:00:00+2:00",
        "1969-12-31T23:59:59Z",
        "99999999999999999999",
        "253402300800",
        "2026-11-05T10:00:00Zed",
        "2026-1-05T10:00:000Z",
        "äää-äää-äää",
        "20261105T100000Z",
        "2026-11-05T10:00:00Z[Europe/Berlin]",
        "1969-12-31T23:59:59.5Z",
    ];
    for text in texts {
        assert_eq!(parse(text), Err(MomentError), "{text}");
    }
}

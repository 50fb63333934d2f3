//! What visitors ask of admission over HTTP and what the answers mean: the part of the contract that this
//! tool knows. No request is made here.

use reqwest::{
    Method, StatusCode,
    header::{HeaderMap, RETRY_AFTER},
};

use crate::{crowd::Call, visits::Outcome};

/// Pause when a 503 does not say how long, in seconds.
const DEFAULT_RETRY_AFTER: f64 = 1.0;
/// No visitor waits longer than this because of a `Retry-After`, in seconds.
const LONGEST_RETRY_AFTER: f64 = 600.0;

/// The HTTP method of a call.
pub(crate) fn method(call: Call) -> Method {
    if call == Call::Status { Method::GET } else { Method::POST }
}

/// What a complete response to `call` comes down to.
pub(crate) fn interpret(
    call: Call,
    status: StatusCode,
    headers: &HeaderMap,
    body: &[u8],
) -> Outcome {
    match status {
        StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS => {
            Outcome::Shed { status, retry_after: retry_after(headers) }
        }
        status if !status.is_success() => Outcome::Refused(status),
        _ if call == Call::Leave => Outcome::Left,
        _ => serde_json::from_slice(body).map_or(Outcome::Garbled, Outcome::Answer),
    }
}

fn retry_after(headers: &HeaderMap) -> f64 {
    let text = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok());
    let seconds = text.and_then(|text| text.trim().parse::<f64>().ok());
    seconds.filter(|s| (0.0..=LONGEST_RETRY_AFTER).contains(s)).unwrap_or(DEFAULT_RETRY_AFTER)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{record::Estimate, visits::Standing};

    fn shed(retry_after: &str) -> Outcome {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, retry_after.parse().unwrap());
        interpret(Call::Join, StatusCode::SERVICE_UNAVAILABLE, &headers, b"")
    }

    #[test]
    fn obeys_retry_after_when_it_makes_sense() {
        assert!(matches!(shed("7"), Outcome::Shed { retry_after: 7.0, .. }));
        assert!(matches!(shed("-1"), Outcome::Shed { retry_after: 1.0, .. }));
        assert!(matches!(shed("soon"), Outcome::Shed { retry_after: 1.0, .. }));
    }

    #[test]
    fn reads_answers_leniently() {
        let read = |body: &[u8]| interpret(Call::Status, StatusCode::OK, &HeaderMap::new(), body);
        let Outcome::Answer(answer) = read(br#"{"status":"your_turn","wait_seconds":null,"x":1}"#)
        else {
            panic!("this is an answer");
        };
        assert_eq!(answer.status, Standing::YourTurn);
        assert_eq!(answer.queue_number, None);
        let random = br#"{"status":"waiting","queueing_method":"random","position":null,
            "people_ahead":null,"wait_seconds":8,"wait_seconds_p25":3,"wait_seconds_p50":8,
            "wait_seconds_p75":16}"#;
        let Outcome::Answer(answer) = read(random) else { panic!("this is an answer") };
        assert_eq!((answer.position, answer.people_ahead), (None, None));
        assert_eq!(answer.estimate(1.0), Some(Estimate::new(1.0, 8.0, Some([3.0, 8.0, 16.0]))));
        assert!(matches!(read(b"<html>"), Outcome::Garbled));
        assert!(matches!(read(br#"{"status":"dancing"}"#), Outcome::Garbled));
    }
}

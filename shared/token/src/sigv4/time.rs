//! The times of signed requests: `20150830T123600Z`.

/// Unix seconds of `X-Amz-Date`; `None`: it is none.
pub(super) fn parse(text: &str) -> Option<i64> {
    let is_form = text.len() == 16
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 => byte == b'T',
            15 => byte == b'Z',
            _ => byte.is_ascii_digit(),
        });
    let time: jiff::Timestamp = if is_form { text.parse().ok()? } else { return None };
    Some(time.as_second())
}

/// The same, written.
pub(super) fn format(seconds: i64) -> String {
    let time = jiff::Timestamp::from_second(seconds).unwrap_or_default();
    time.strftime("%Y%m%dT%H%M%SZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_this_form_alone() {
        assert_eq!(parse("20150830T123600Z"), Some(1_440_938_160));
        assert_eq!(format(1_440_938_160), "20150830T123600Z");
        for wrong in [
            "",
            "2015-08-30T12:36:00Z",
            "20150830T123600",
            "20150830T1236Z",
            "20151330T123600Z",
            "20150830T253600Z",
            "20150830t123600z",
            "Sun, 30 Aug 2015 12:36:00 GMT",
            "2015083é123600Z",
        ] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}

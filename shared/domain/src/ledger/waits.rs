//! The buckets by which waits are counted.

/// The longest wait of each bucket but the last two, in seconds. The next holds whatever is longer.
pub const WAIT_BOUNDS: [u64; 11] = [0, 10, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200];
/// The bucket of those who were told that the wait is unknown.
pub const UNKNOWN_WAIT: u8 = 12;
/// How many buckets there are.
pub const BUCKETS: u8 = UNKNOWN_WAIT + 1;

/// The bucket of a wait of so many seconds; `None`: it is unknown.
#[must_use]
pub fn bucket_of(seconds: Option<u64>) -> u8 {
    let Some(seconds) = seconds else { return UNKNOWN_WAIT };
    let bucket = WAIT_BOUNDS.partition_point(|bound| *bound < seconds);
    u8::try_from(bucket).unwrap_or(UNKNOWN_WAIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_in_the_first_bucket_that_it_fits_in() {
        let buckets = [0, 1, 10, 11, 60, 61, 7_200, 7_201, u64::MAX].map(|s| bucket_of(Some(s)));
        assert_eq!(buckets, [0, 1, 1, 2, 3, 4, 10, 11, 11]);
        assert_eq!(bucket_of(None), 12);
    }
}

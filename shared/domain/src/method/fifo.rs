//! First in, first out: the line is the order of arrival.

/// The position is the queue number itself.
pub(super) fn position(queue_number: u64) -> u64 {
    queue_number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_order_of_arrival() {
        assert!((1..1000).all(|number| position(number) < position(number + 1)));
        assert_eq!(position(1), 1);
    }
}

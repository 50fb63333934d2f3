//! Which of the configs that are known is a room's.

use crate::schedule::RoomConfig;

/// The newest of these configs, each with the reset epoch in which it was known. A reset leaves a config as it is, so
/// one of before it counts like one since: it may have been changed by whoever had not heard of the reset. Those of
/// epochs up to `buried` are of other rooms, which were deleted.
pub fn newest_config(
    known: impl IntoIterator<Item = (u64, RoomConfig)>,
    buried: u64,
) -> Option<RoomConfig> {
    let of_room = known.into_iter().filter(|(reset_epoch, _)| *reset_epoch > buried);
    let newest = of_room.max_by_key(|(reset_epoch, config)| (config.version, *reset_epoch));
    newest.map(|(_, config)| config)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(version: u64) -> RoomConfig {
        RoomConfig { version, ..RoomConfig::default() }
    }

    #[test]
    fn a_change_by_somebody_who_had_not_heard_of_a_reset_is_kept() {
        let known = || [(1_000, config(3)), (2_000, config(2)), (2_000, config(1))];
        assert_eq!(newest_config(known(), 0), Some(config(3)));
        assert_eq!(newest_config(known(), 1_000), Some(config(2)), "that was another room");
        assert_eq!(newest_config(known(), 2_000), None);
    }

    #[test]
    fn of_two_of_one_version_that_of_the_later_epoch_counts() {
        let mut closed = config(2);
        closed.settings.suspended = true;
        let known = [(2_000, closed.clone()), (1_000, config(2))];
        assert_eq!(newest_config(known.clone(), 0), Some(closed.clone()));
        assert_eq!(newest_config(known.into_iter().rev(), 0), Some(closed));
    }
}

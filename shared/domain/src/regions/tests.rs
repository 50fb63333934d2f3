//! The worked examples of the published designs, and properties that hold for any numbers.

use proptest::{collection::btree_map, prelude::*};

use super::*;

fn by_region(counts: &[(&str, u64)]) -> ByRegion {
    counts.iter().map(|(region, count)| ((*region).to_owned(), *count)).collect()
}

fn grants(regions: &[(&str, u64)], anywhere: u64) -> Grants {
    Grants { regions: by_region(regions), anywhere }
}

#[track_caller]
fn assert_shares(shares: &Shares, regions: &[(&str, f64)], anywhere: f64) {
    for (region, share) in regions {
        assert!((shares.share(region) - share).abs() < 1e-12, "{region}: {}", shares.share(region));
    }
    assert!((shares.anywhere() - anywhere).abs() < 1e-12, "anywhere: {}", shares.anywhere());
}

/// 16:33:20: shares come from 16:31, and a minute later from 16:32.
#[test]
fn shares_come_from_two_minutes_ago() {
    let minute = |hour: u64, minute: u64| hour * 60 + minute;
    let history = BTreeMap::from([
        (minute(16, 31), by_region(&[("nairobi", 50), ("dublin", 50)])),
        (minute(16, 32), by_region(&[("nairobi", 45), ("dublin", 55)])),
    ]);
    let shares_at = |now| Shares::from_newcomers(&history[&minute_of_history(now)], None);
    assert_shares(&shares_at(minute(16, 33)), &[("nairobi", 0.5), ("dublin", 0.5)], 0.0);
    assert_shares(&shares_at(minute(16, 34)), &[("nairobi", 0.45), ("dublin", 0.55)], 0.0);
    let divided = shares_at(minute(16, 33)).divide(1_000);
    assert_eq!(divided, grants(&[("nairobi", 500), ("dublin", 500)], 0));
}

fn san_jose_and_london() -> Shares {
    Shares::from_newcomers(&by_region(&[("san-jose", 20), ("london", 30)]), Some(200))
}

/// 20 and 30 newcomers in a room that lets in 200: three quarters are for anywhere.
#[test]
fn what_history_does_not_explain_is_for_anywhere() {
    let shares = san_jose_and_london();
    assert_shares(&shares, &[("san-jose", 0.10), ("london", 0.15), ("delhi", 0.0)], 0.75);
    assert_eq!(shares.divide(150), grants(&[("san-jose", 15), ("london", 22)], 113));
}

#[test]
fn without_history_everything_is_for_anywhere() {
    for limit in [None, Some(0), Some(100)] {
        let shares = Shares::from_newcomers(&ByRegion::new(), limit);
        assert_shares(&shares, &[("a", 0.0)], 1.0);
        assert_eq!(shares.divide(7), grants(&[], 7));
    }
    assert_eq!(Shares::default().divide(7), grants(&[], 7));
    let silent = Shares::from_newcomers(&by_region(&[("a", 0)]), None);
    assert_eq!(silent.divide(7), grants(&[("a", 0)], 7));
}

#[test]
fn more_newcomers_than_the_limit_explain_every_slot() {
    let shares = Shares::from_newcomers(&by_region(&[("a", 300), ("b", 100)]), Some(200));
    assert_shares(&shares, &[("a", 0.75), ("b", 0.25)], 0.0);
    assert_eq!(shares.divide(101), grants(&[("a", 75), ("b", 25)], 1), "the odd one is anyone's");
}

/// A region takes its own slots, then those open to all, then those unused by others. The published
/// designs stop San Jose at 16 a worker and Delhi at 11.
#[test]
fn takes_its_own_then_anywhere_then_what_others_leave() {
    let mut left = san_jose_and_london().divide(150);
    assert_eq!(left.take("san-jose", 16), Taken { own: 15, anywhere: 1, lent: 0 });
    assert_eq!(left.take("delhi", 12), Taken { own: 0, anywhere: 12, lent: 0 });
    assert_eq!(left.take("delhi", 110), Taken { own: 0, anywhere: 100, lent: 10 });
    assert_eq!(left, grants(&[("san-jose", 0), ("london", 12)], 0));
    assert_eq!(left.take("london", 13), Taken { own: 12, anywhere: 0, lent: 0 });
    assert_eq!(left.left(), 0);
}

#[test]
fn borrows_from_the_largest_first_and_among_equals_by_name() {
    let mut left = grants(&[("a", 5), ("b", 9), ("c", 5), ("d", 0)], 0);
    assert_eq!(left.take("d", 10), Taken { own: 0, anywhere: 0, lent: 10 });
    assert_eq!(left, grants(&[("a", 4), ("b", 0), ("c", 5), ("d", 0)], 0));
}

/// Ten slots of one region with arrivals 7 and 1, 8 and 7 at its two instances; then one by one.
#[test]
fn ten_slots_are_ten_slots() {
    let ten = || Shares::from_newcomers(&by_region(&[("a", 10)]), None).divide(10);
    let admitted = |arrivals: &[u64]| -> u64 {
        let mut left = ten();
        arrivals.iter().map(|wanted| left.take("a", *wanted).all()).sum()
    };
    assert_eq!(admitted(&[7, 1]), 8, "all are in: no slot is kept for an instance");
    assert_eq!(admitted(&[8, 7]), 10, "and never one too many");
    let mut left = ten();
    let one_by_one: Vec<_> = (0..11).map(|_| left.take("a", 1).all()).collect();
    assert_eq!(one_by_one, [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0]);
}

/// History gives shares of 45, 45 and 10 per cent; then nine of ten people come from the third
/// region.
#[test]
fn a_sudden_shift_queues_nobody_while_slots_are_free() {
    let before = by_region(&[("a", 450), ("b", 450), ("c", 100)]);
    for limit in [None, Some(1_000), Some(5_000)] {
        let mut left = Shares::from_newcomers(&before, limit).divide(1_000);
        for arrival in 0..1_000 {
            let region = ["c", "c", "c", "c", "a", "c", "c", "c", "c", "c"][arrival % 10];
            assert_eq!(left.take(region, 1).all(), 1, "arrival {arrival} from {region}");
        }
        assert_eq!(left.take("c", 1).all(), 0);
    }
    let after = Shares::from_newcomers(&by_region(&[("a", 100), ("c", 900)]), Some(1_000));
    assert_eq!(after.divide(1_000), grants(&[("a", 100), ("c", 900)], 0));
}

#[test]
fn the_last_group_is_divided_by_share() {
    let shares = Shares::from_newcomers(&by_region(&[("a", 60), ("b", 40)]), None);
    let seat = |seats, waiting: &[(&str, u64)]| shares.seat(seats, &by_region(waiting));
    assert_eq!(seat(10, &[("a", 50), ("b", 50)]), by_region(&[("a", 6), ("b", 4)]));
    assert_eq!(seat(10, &[("a", 2), ("b", 50)]), by_region(&[("a", 2), ("b", 8)]));
    assert_eq!(seat(10, &[("b", 3), ("c", 3)]), by_region(&[("b", 3), ("c", 3)]));
    assert_eq!(seat(10, &[("c", 30), ("d", 10)]), by_region(&[("c", 8), ("d", 2)]));
    assert_eq!(seat(1, &[("a", 5), ("b", 6)]), by_region(&[("a", 0), ("b", 1)]));
    assert_eq!(seat(0, &[("a", 5)]), by_region(&[("a", 0)]));
}

fn counts() -> impl Strategy<Value = ByRegion> {
    btree_map("[a-e]", 0..10_000_u64, 0..5)
}

proptest! {
    #[test]
    fn grants_add_up_and_no_region_has_more_than_its_share(
        newcomers in counts(), limit in prop::option::of(0..50_000_u64), slots in 0..=u64::MAX,
    ) {
        let shares = Shares::from_newcomers(&newcomers, limit);
        let grants = shares.divide(slots);
        prop_assert_eq!(grants.left(), slots);
        let all = newcomers.values().sum::<u64>().max(limit.unwrap_or(0));
        for (region, granted) in &grants.regions {
            let exact = u128::from(slots) * u128::from(newcomers[region]);
            prop_assert!(u128::from(*granted) * u128::from(all) <= exact);
        }
    }

    #[test]
    fn nobody_is_queued_while_a_slot_is_free(
        newcomers in counts(), limit in prop::option::of(0..50_000_u64), slots in 0..20_000_u64,
        calls in prop::collection::vec(("[a-g]", 0..3_000_u64), 0..30),
    ) {
        let mut left = Shares::from_newcomers(&newcomers, limit).divide(slots);
        let mut free = slots;
        for (region, wanted) in calls {
            let own = left.regions.get(&region).copied().unwrap_or(0);
            let taken = left.take(&region, wanted);
            prop_assert_eq!(taken.all(), wanted.min(free), "all that was wanted or all there was");
            prop_assert_eq!(taken.own, wanted.min(own), "the region's own part comes first");
            prop_assert!(taken.lent == 0 || left.anywhere == 0, "nothing is lent before that");
            free -= taken.all();
            prop_assert_eq!(left.left(), free);
        }
    }

    #[test]
    fn no_seat_stays_free_while_anybody_waits(
        newcomers in counts(), limit in prop::option::of(0..50_000_u64),
        seats in 0..60_000_u64, waiting in counts(),
    ) {
        let seated = Shares::from_newcomers(&newcomers, limit).seat(seats, &waiting);
        let all: u64 = waiting.values().sum();
        prop_assert_eq!(seated.values().sum::<u64>(), seats.min(all));
        for (region, count) in &waiting {
            prop_assert!(seated[region] <= *count);
        }
        prop_assert_eq!(seated.len(), waiting.len());
    }
}

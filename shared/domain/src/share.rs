//! Which controller serves which rooms. Rooms fall into [`BUCKETS`] by a hash of their names, which never changes; the
//! buckets are divided among the members of a term by rendezvous hashing: each bucket goes to the member that it likes
//! best. So who comes takes only what it is liked best for, and of who goes only that is given to others.
//!
//! All members must come to the same division, also those of another release: the hashes are fixed by tests. Who the
//! members are, and in which term, the store's script says (`lead.lua`).

use crate::RoomId;

/// How many buckets there are.
pub const BUCKETS: u32 = 64;

/// A member's part of all buckets: one bit each.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Share(u64);

/// The bucket of a room: see [`BUCKETS`].
#[must_use]
pub fn bucket_of(room: &RoomId) -> u32 {
    bucket(room.as_str())
}

fn bucket(name: &str) -> u32 {
    u32::try_from(mix(hash(name)) % u64::from(BUCKETS)).unwrap_or(0)
}

/// How much this bucket likes a member.
fn liking(member: &str, bucket: u32) -> u64 {
    // SplitMix64's, so that each bucket draws another number from the same seed.
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
    mix(hash(member).wrapping_add(STEP.wrapping_mul(u64::from(bucket) + 1)))
}

/// FNV-1a.
fn hash(text: &str) -> u64 {
    let add = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, add)
}

/// Spreads what differs in a few bits over all of them, as `SplitMix64` does.
fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

// === impl Share ===

impl Share {
    /// No room.
    pub const NONE: Self = Self(0);
    /// Every room.
    pub const ALL: Self = Self(u64::MAX);

    /// The part of `member` among `members`; nothing, if it is none of them.
    #[must_use]
    pub fn of<S: AsRef<str>>(member: &str, members: &[S]) -> Self {
        let is_own = |bucket: &u32| {
            let liked =
                members.iter().map(AsRef::as_ref).max_by_key(|name| (liking(name, *bucket), *name));
            liked == Some(member)
        };
        Self((0..BUCKETS).filter(is_own).fold(0, |bits, bucket| bits | 1 << bucket))
    }

    /// Whether the room is of this part.
    #[must_use]
    pub fn has(self, room: &RoomId) -> bool {
        self.0 >> bucket_of(room) & 1 == 1
    }

    /// How many buckets it is.
    #[must_use]
    pub fn buckets(self) -> u32 {
        self.0.count_ones()
    }
}

impl std::fmt::Debug for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Share({:016x})", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(members: &[&str]) -> Vec<Share> {
        members.iter().map(|member| Share::of(member, members)).collect()
    }

    /// Another release comes to the same.
    #[test]
    fn the_hashes_are_fixed() {
        assert_eq!(hash("a"), 0xaf63_dc4c_8601_ec8c, "as FNV-1a is published");
        assert_eq!(["sale", "on-sale_1", "drop"].map(bucket), [61, 15, 39]);
        let both = shares(&["controller-eu-00000001", "controller-eu-00000002"]);
        assert_eq!(both, [Share(0x40aa_2429_7aae_4210), Share(0xbf55_dbd6_8551_bdef)]);
    }

    #[test]
    fn every_bucket_has_one_member_and_members_have_about_as_many() {
        for members in 1..=8_u32 {
            let names: Vec<_> =
                (0..members).map(|nth| format!("controller-eu-{nth:08x}")).collect();
            let shares: Vec<_> = names.iter().map(|name| Share::of(name, &names)).collect();
            assert_eq!(shares.iter().fold(0, |all, share| all | share.0), Share::ALL.0);
            assert_eq!(shares.iter().map(|share| share.buckets()).sum::<u32>(), BUCKETS);
            let fair = BUCKETS / members;
            for share in shares {
                assert!((fair / 3..=fair * 2).contains(&share.buckets()), "{members}: {share:?}");
            }
        }
        assert_eq!(Share::of("nobody", &["a", "b"]), Share::NONE);
    }

    #[test]
    fn rooms_are_spread_over_all_buckets() {
        let mut rooms = [0_u32; BUCKETS as usize];
        for nth in 0..6_400 {
            rooms[bucket(&format!("room-{nth}")) as usize] += 1;
        }
        assert!(rooms.iter().all(|count| (60..150).contains(count)), "{rooms:?}");
    }

    #[test]
    fn only_what_a_member_brings_or_leaves_changes_hands() {
        let (three, four) = (shares(&["a", "b", "c"]), shares(&["a", "b", "c", "d"]));
        for (before, after) in three.iter().zip(&four) {
            assert_eq!(after.0 & !before.0, 0, "nothing passes between those who stay");
        }
        let moved: u32 =
            three.iter().zip(&four).map(|(before, after)| (before.0 & !after.0).count_ones()).sum();
        assert_eq!(moved, four[3].buckets());
    }

    #[test]
    fn the_order_of_members_does_not_matter() {
        assert_eq!(Share::of("b", &["a", "b", "c"]), Share::of("b", &["c", "b", "a"]));
        let room = RoomId::new("sale").unwrap();
        let having = shares(&["a", "b", "c"]).into_iter().filter(|share| share.has(&room)).count();
        assert_eq!(having, 1);
    }
}

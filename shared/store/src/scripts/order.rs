//! The order of arguments and replies of the four scripts that are called most, in the words of
//! [`crate::positional`]: each struct's fields are the order of both sides. What the fields mean is
//! in the header of the script; [`crate::commands`] translates them from and to public types.

use crate::positional::{Positions, arguments, reply};

/// `check_in.lua`.
pub(crate) mod check_in {
    use super::{Positions, arguments, reply};

    pub(crate) const POSITIONS: Positions = Positions {
        call: Arguments::NAMES,
        item: Item::NAMES,
        reply: Reply::NAMES,
        reply_item: &[],
    };

    arguments! {
        pub(crate) struct Arguments {
            reset_epoch: u64,
        }
    }

    arguments! {
        pub(crate) struct Item {
            pool: Option<u64>,
            band: u32,
            place: u64,
        }
    }

    reply! {
        pub(crate) struct Reply {
            now_ms: u64,
            counted: bool,
        }
    }
}

/// `claim.lua`.
pub(crate) mod claim {
    use super::{Positions, arguments, reply};

    pub(crate) const POSITIONS: Positions = Positions {
        call: Arguments::NAMES,
        item: Item::NAMES,
        reply: Reply::NAMES,
        reply_item: ReplyItem::NAMES,
    };

    arguments! {
        pub(crate) struct Arguments<'a> {
            key_id: &'a str,
            region: &'a str,
            able_ms: Option<u64>,
        }
    }

    arguments! {
        pub(crate) struct Item<'a> {
            reset_epoch: u64,
            draws: usize,
            number: u64,
            position: Option<u64>,
            rank: u64,
            won: bool,
            entered_at: u32,
            kind: &'static str,
            held_ms: u64,
            hold: bool,
            request_id: &'a str,
            issuer: &'a str,
            validity_seconds: Option<u64>,
            network: Option<u64>,
            seats_per_network: Option<u64>,
            only_logs: bool,
            max_session_seconds: Option<u64>,
            caller: &'a str,
        }
    }

    reply! {
        pub(crate) struct Reply {
            now_ms: u64,
            reset_epoch: u64,
            generation: u32,
            admitted: u64,
            free_at_ms: Option<u64>,
            outcomes: Vec<ReplyItem>,
        }
    }

    reply! {
        pub(crate) struct ReplyItem {
            outcome: String,
            issued_at: Option<u64>,
            expires_at: Option<u64>,
            key_id: Option<String>,
            issuer: Option<String>,
            held_until_ms: Option<u64>,
            beyond_seats: bool,
            note: Option<String>,
        }
    }
}

/// `join.lua`.
pub(crate) mod join {
    use super::{Positions, arguments, reply};

    pub(crate) const POSITIONS: Positions = Positions {
        call: Arguments::NAMES,
        item: Item::NAMES,
        reply: Reply::NAMES,
        reply_item: &[],
    };

    arguments! {
        pub(crate) struct Arguments<'a> {
            call: &'a str,
            region: &'a str,
            count: u64,
            mode: &'static str,
            key_id: &'a str,
            issuer: &'a str,
            joins_per_minute: Option<u64>,
            places: Option<u64>,
            seats: Option<u64>,
            only_logs: bool,
            max_session_seconds: Option<u64>,
        }
    }

    arguments! {
        pub(crate) struct Item {
            network: u64,
        }
    }

    reply! {
        pub(crate) struct Reply {
            now_ms: u64,
            reset_epoch: u64,
            generation: u32,
            first: u64,
            seated: u64,
            suspended: bool,
            serving_counter: i64,
            issued_at: u64,
            expires_at: u64,
            admitted: u64,
            pool: Option<u32>,
            own: u64,
            anywhere: u64,
            lent: u64,
            limited: bool,
            outcomes: Vec<i64>,
            beyond_joins: u64,
            beyond_places: u64,
            wait_s: u64,
        }
    }
}

/// `touch.lua`.
pub(crate) mod touch {
    use super::{Positions, arguments, reply};

    pub(crate) const POSITIONS: Positions = Positions {
        call: Arguments::NAMES,
        item: Item::NAMES,
        reply: Reply::NAMES,
        reply_item: ReplyItem::NAMES,
    };

    arguments! {
        pub(crate) struct Arguments<'a> {
            key_id: &'a str,
            issuer: &'a str,
        }
    }

    arguments! {
        pub(crate) struct Item<'a> {
            reset_epoch: u64,
            number: u64,
            position: u64,
            generation: u32,
            issued_at: u64,
            expires_at: u64,
            max_session_seconds: Option<u64>,
            caller: &'a str,
        }
    }

    reply! {
        pub(crate) struct Reply {
            now_ms: u64,
            generation: u32,
            sessions: Vec<ReplyItem>,
        }
    }

    reply! {
        pub(crate) struct ReplyItem {
            live: bool,
            issued_at: Option<u64>,
            expires_at: Option<u64>,
            key_id: Option<String>,
            issuer: Option<String>,
            note: Option<String>,
            is_stranger: bool,
        }
    }
}

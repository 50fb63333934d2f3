//! The options of SET, and the expiry that SETEX and its like give.

use crate::{
    arguments::{Rest, integer, word},
    core::Core,
    failure::{Failure, SYNTAX},
};

/// When a SET sets, what it answers, and until when it lasts.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "one for each option")]
pub(super) struct SetOptions {
    pub(super) only_new: bool,
    pub(super) only_existing: bool,
    pub(super) answers_old: bool,
    pub(super) keeps_expiry: bool,
    pub(super) expires_at: Option<i64>,
}

// === impl SetOptions ===

impl SetOptions {
    pub(super) fn read(core: &Core, mut rest: Rest) -> Result<Self, Failure> {
        let mut options = Self::default();
        let mut expiry = None;
        while let Some(option) = rest.next() {
            match word(option).as_str() {
                "NX" if !options.only_existing => options.only_new = true,
                "XX" if !options.only_new => options.only_existing = true,
                "GET" => options.answers_old = true,
                "KEEPTTL" if expiry.is_none() => options.keeps_expiry = true,
                unit @ ("EX" | "PX" | "EXAT" | "PXAT")
                    if expiry.is_none() && !options.keeps_expiry =>
                {
                    expiry = Some((unit.to_owned(), rest.expect()?));
                }
                _ => return Err(SYNTAX),
            }
        }
        if let Some((unit, time)) = expiry {
            options.expires_at = Some(expiry_of(core, time, &unit, "set")?);
        }
        Ok(options)
    }
}

/// The time, ms, that a `time` of this unit means for `command`: EX, PX, EXAT or PXAT.
pub(super) fn expiry_of(
    core: &Core,
    time: &[u8],
    unit: &str,
    command: &str,
) -> Result<i64, Failure> {
    let invalid = || Failure(format!("ERR invalid expire time in '{command}' command").into());
    let time = integer(time)?;
    if time <= 0 {
        return Err(invalid());
    }
    let ms = if unit.starts_with('E') { time.checked_mul(1000) } else { Some(time) };
    let from = if unit.ends_with("AT") { 0 } else { i64::try_from(core.now_ms()).unwrap_or(0) };
    ms.and_then(|ms| ms.checked_add(from)).ok_or_else(invalid)
}

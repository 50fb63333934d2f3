//! The arguments of EVAL and its like.

use crate::{arguments::integer, commands::Args, failure::Failure};

/// What a script is called with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call<'a, 'b> {
    pub(super) keys: &'b [&'a [u8]],
    pub(super) args: &'b [&'a [u8]],
    /// Whether it may change nothing.
    pub(super) read_only: bool,
}

// === impl Call ===

impl<'a, 'b> Call<'a, 'b> {
    /// Of `script numkeys [key …] [arg …]`.
    pub(crate) fn read(args: Args<'a, 'b>, read_only: bool) -> Result<Self, Failure> {
        let (count, rest) = (integer(args[1])?, &args[2..]);
        let Ok(count) = usize::try_from(count) else {
            return Err(Failure::new("ERR Number of keys can't be negative"));
        };
        let split = rest.split_at_checked(count);
        let (keys, args) =
            split.ok_or(Failure::new("ERR Number of keys can't be greater than number of args"))?;
        Ok(Self { keys, args, read_only })
    }
}

//! Who calls, what each call needs, and whether the one may do the other. How a caller is known is in
//! [`crate::tokens`] and [`crate::layers`].

mod caller;
mod operations;

#[cfg(test)]
pub(crate) use self::operations::OPERATIONS;
pub(crate) use self::{
    caller::{Caller, Refused},
    operations::{Operation, Over, operation},
};

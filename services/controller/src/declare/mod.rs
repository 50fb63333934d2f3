//! Making rooms what a document says. The document is read in [`crate::api_types::Declaration`]; here it is compared
//! with what there is, checked as a whole, and carried out, room by room. Lines, counters and people stay as they are.

mod apply;
mod beacons;
mod check;
mod diff;
mod heirs;
mod plan;
mod size;

pub(crate) use self::{
    apply::{Order, apply},
    size::check_size,
};

#[cfg(test)]
mod tests;

//! Chromium, for tests of what visitors see: started anew for each test, with nothing in it, and
//! ended with it.

mod axe;
mod chromium;
mod emulate;
mod evidence;
mod found;
mod page;
mod seat;
mod styles;

pub use self::{
    axe::Violations,
    chromium::{Chromium, Options},
    emulate::Media,
    evidence::Traffic,
    page::At,
    seat::Seat,
};

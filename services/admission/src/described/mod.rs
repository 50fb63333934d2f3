//! How admission reads what strangers send: for a program that makes such things up, and looks whether they are read as
//! what they are. Nothing is decided here, and no running service is needed.

mod gateways;
mod logins;

pub use self::{
    gateways::{Described, Question, Refused, read},
    logins::{Led, led_to, proves},
};

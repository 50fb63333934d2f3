//! Visitors who keep a diary, for tests that compare what became of each of them. All that a guest does is
//! decided by generators of its own: what others send changes neither when it asks nor whom.

mod aws;
mod button;
mod diary;
mod hall;
mod punctual;
mod web;

pub(crate) use self::{
    aws::AwsGuest,
    button::ButtonGuest,
    diary::{Diary, Page, Told, longest_overtaking, most_overtaken},
    hall::{Hall, Rhythm},
    punctual::PunctualGuest,
    web::{WebGuest, ticket_of},
};

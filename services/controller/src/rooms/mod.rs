//! Operations on rooms that several endpoints share: finding a room, changing its config, and
//! waiting until every admission applies the change. HTTP paths and bodies are not here.

mod apply;
mod configs;
mod directory;
mod draw_seeds;
mod editor;
mod error;
mod future_rounds;
mod issuers;
mod names;
mod one_by_one;
mod rollout;
mod routes;

pub(crate) use self::{
    apply::ApplyLease,
    directory::RoomDirectory,
    draw_seeds::DrawSeeds,
    editor::ConfigEditor,
    error::RoomError,
    future_rounds::{FutureRounds, MOST_NEW_ROUNDS, new_round},
    issuers::ProviderIssuers,
    names::{Named, TokensUntil, require_event_id},
    rollout::{BEHIND, Rollout},
    routes::ForeignRoutes,
};

#[cfg(test)]
mod tests;

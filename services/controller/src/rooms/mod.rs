//! Operations on rooms that several endpoints share: finding a room, changing its config, and
//! waiting until every admission applies the change. HTTP paths and bodies are not here.

mod apply;
mod directory;
mod draw_seeds;
mod editor;
mod error;
mod issuers;
mod names;
mod rollout;
mod routes;

pub(crate) use self::{
    apply::ApplyLease,
    directory::RoomDirectory,
    draw_seeds::DrawSeeds,
    editor::ConfigEditor,
    error::RoomError,
    issuers::ProviderIssuers,
    names::{Named, TokensUntil, require_event_id},
    rollout::{BEHIND, Rollout},
};

#[cfg(test)]
mod tests;

//! `GET /v1/audit`

use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use vestibule_domain::{access::Role, schedule::moment};
use vestibule_runtime::{
    Problem, ProblemType,
    extract::{Json, Query},
};
use vestibule_store::{AuditList, AuditQuery};

use crate::{
    access::Caller,
    audit::NotedEntry,
    endpoints::responses::{InvalidRequest, Refusals},
    state::Controller,
};

const DEFAULT_LIMIT: u64 = 100;
const MOST: u64 = 1_000;
/// Entries that are read at a time, and that one call looks at, at most.
const PAGE: u64 = 500;
const MOST_LOOKED_AT: usize = 10_000;
/// Times that one call reads, at most: a time is no more than a megabyte of long entries.
const MOST_READS: usize = 40;
const MICROS: u64 = 1_000_000;

/// Which entries.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct AuditFilter {
    /// The first moment, as unix seconds or RFC 3339.
    #[serde(with = "moment::option")]
    #[param(value_type = Option<String>, example = "2026-11-05T10:00:00Z")]
    from: Option<u64>,
    /// The last moment.
    #[serde(with = "moment::option")]
    #[param(value_type = Option<String>, example = "1793865600")]
    to: Option<u64>,
    /// Only entries of this room.
    room: Option<String>,
    /// Only entries of the token of this name.
    who: Option<String>,
    /// Only entries before the one of this `id`: the `next` of the page before.
    before: Option<u64>,
    /// The most entries.
    #[param(default = 100, minimum = 1, maximum = 1000)]
    limit: Option<u64>,
    /// `changes` (if left out), or `visits`: what was done for single visitors by AWS-style calls
    /// (`generate_token`, `update_session`), of which fewer are kept.
    of: Option<String>,
}

/// Entries of the audit log.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AuditPage {
    /// The newest first.
    entries: Vec<NotedEntry>,
    /// Where the next page begins: the parameter `before`. Null: there is no more.
    next: Option<u64>,
}

/// Tells who has changed what, the newest first.
///
/// An admin whose token is for all rooms sees everything; others see what was done in the rooms that their token is for.
/// A page may have fewer entries than were asked for although more follow: `next` says so.
#[utoipa::path(
    get, path = "/v1/audit", tag = "tokens", params(AuditFilter),
    responses((status = 200, description = "Entries", body = AuditPage), InvalidRequest, Refusals)
)]
pub(crate) async fn read_audit(
    State(controller): State<Arc<Controller>>,
    caller: Caller,
    Query(filter): Query<AuditFilter>,
) -> Result<Json<AuditPage>, Problem> {
    let (list, limit) = (filter.list()?, filter.limit()?);
    let since = filter.from.unwrap_or(0).saturating_mul(MICROS);
    let (mut before, mut entries) = (filter.first(), Vec::new());
    let (mut looked_at, mut page_size) = (0, limit.min(PAGE));
    for _ in 0..MOST_READS {
        let query = AuditQuery { before, since, limit: page_size };
        let (page, is_last) = controller.audit.read(list, query).await?;
        looked_at += page.len();
        // More are not of this room, or of others.
        page_size = PAGE;
        for entry in page {
            before = Some(entry.id);
            if filter.wants(&entry) && may_see(&caller, &entry) {
                entries.push(entry.dated());
                if entries.len() as u64 == limit {
                    return Ok(Json(AuditPage { entries, next: before }));
                }
            }
        }
        if is_last {
            return Ok(Json(AuditPage { entries, next: None }));
        }
        if looked_at >= MOST_LOOKED_AT {
            break;
        }
    }
    Ok(Json(AuditPage { entries, next: before }))
}

/// What is of no room, an admin of all rooms sees alone.
fn may_see(caller: &Caller, entry: &NotedEntry) -> bool {
    match &entry.room {
        Some(room) => caller.rooms.covers(room),
        None => caller.role == Role::Admin && caller.rooms.is_whole(),
    }
}

// === impl AuditFilter ===

impl AuditFilter {
    fn list(&self) -> Result<AuditList, Problem> {
        match self.of.as_deref() {
            None | Some("changes") => Ok(AuditList::Changes),
            Some("visits") => Ok(AuditList::Visits),
            Some(_) => Err(invalid().field("of", "must be one of: changes, visits")),
        }
    }

    fn limit(&self) -> Result<u64, Problem> {
        let limit = self.limit.unwrap_or(DEFAULT_LIMIT);
        let refused = || invalid().field("limit", format!("must be from 1 to {MOST}"));
        (1..=MOST).contains(&limit).then_some(limit).ok_or_else(refused)
    }

    /// The id before which the first page ends.
    fn first(&self) -> Option<u64> {
        let end = self.to.map(|to| to.saturating_add(1).saturating_mul(MICROS));
        [self.before, end].into_iter().flatten().min()
    }

    fn wants(&self, entry: &NotedEntry) -> bool {
        let is = |wanted: &Option<String>, found: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| found == Some(wanted))
        };
        is(&self.room, entry.room.as_deref()) && is(&self.who, Some(&entry.who))
    }
}

fn invalid() -> Problem {
    Problem::new(ProblemType::InvalidRequest)
}

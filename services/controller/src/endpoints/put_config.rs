//! `PUT /v1/config`

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::extract::{Request, State};
use serde::Deserialize;
use serde_json::Value;
use tokio::{
    sync::{Semaphore, SemaphorePermit},
    task::spawn_blocking,
    time::timeout,
};
use utoipa::IntoParams;
use vestibule_domain::LabelSelectorError;
use vestibule_runtime::{
    Problem, ProblemType,
    extract::{Json, Query},
};

use crate::{
    access::Caller,
    api_types::{Declaration, DeclarationSchema, Plan},
    audit::Trail,
    declare::{Order, apply, check_size},
    endpoints::responses::{ApplyConflict, BodyRefusals, InvalidRequest, Refusals},
    extractors::Upload,
    rooms::Rollout,
    state::Controller,
    unique::Unique,
    yaml,
};

/// The longest document, in bytes: a thousand rooms, and some with pages of their own.
const LONGEST: usize = 32 * 1024 * 1024;
/// Documents of this process that are read and applied at a time: a long one takes a few hundred megabytes meanwhile.
static APPLIED: Semaphore = Semaphore::const_new(1);
/// Those that arrive or wait, by who sends them: one each, so whoever sends nothing keeps only itself.
static ARRIVING: Mutex<BTreeMap<Arc<str>, Arc<Semaphore>>> = Mutex::new(BTreeMap::new());
/// For how long others wait.
const PATIENCE: Duration = Duration::from_secs(30);

/// How it is applied.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ApplyOptions {
    /// Only tell what would change. A viewer may do that.
    #[param(default = false)]
    dry_run: bool,
    /// Delete rooms that have these labels, separated by commas, and are not in the document.
    #[param(example = "managed-by=git")]
    prune: Option<String>,
    /// How many people may be in the rooms that are deleted, at most: they lose their place or their seat.
    #[param(default = 0)]
    prune_occupied: u64,
}

/// Makes rooms what a document says, with their events and pages.
///
/// The document is the whole truth of each room in it: what is left out has its default, and events that are not there
/// are deleted. Rooms that are not in it stay as they are, unless `prune` picks them. Lines, counters and people stay as
/// they are. Everything is checked before anything is changed; `errors` has all that is wrong. One document is applied at a
/// time. JSON, or YAML if `Content-Type` says so.
///
/// For a dry run the role `viewer` is enough; a change needs `operator`, and creating or deleting a room `admin`.
#[utoipa::path(
    put, path = "/v1/config", tag = "config", params(ApplyOptions),
    request_body(content((DeclarationSchema = "application/json"), (String = "application/yaml"))),
    responses(
        (status = 200, description = "What was changed, or would be", body = Plan),
        ApplyConflict, BodyRefusals, InvalidRequest, Refusals,
    )
)]
pub(crate) async fn put_config(
    State(controller): State<Arc<Controller>>,
    caller: Caller,
    trail: Trail,
    Query(options): Query<ApplyOptions>,
    request: Request,
) -> Result<(Rollout, Json<Plan>), Problem> {
    let prune = options.prune.as_deref().map(str::parse).transpose();
    let wrong = |error: LabelSelectorError| invalid().field("prune", error.to_string());
    let prune = prune.map_err(wrong)?;
    let own = own_place(&caller.name);
    let _arrives = turn(&own).await?;
    let upload = Upload::read(request, LONGEST).await?;
    let _is_applied = turn(&APPLIED).await?;
    // A long document takes a second of a processor.
    let read = spawn_blocking(move || document(&upload).map(Declaration::read)).await;
    let (declared, errors) = read.map_err(|error| Problem::internal(&error))??;
    let order = Order {
        declared,
        errors,
        prune,
        prune_occupied: options.prune_occupied,
        dry_run: options.dry_run,
    };
    let (plan, rollout) = apply(&controller, &caller, &trail, &order).await?;
    Ok((rollout, Json(plan)))
}

/// Where the documents of this caller arrive. Those of whoever sends none now are forgotten.
fn own_place(caller: &Arc<str>) -> Arc<Semaphore> {
    let mut arriving = ARRIVING.lock().unwrap_or_else(PoisonError::into_inner);
    arriving.retain(|_, place| Arc::strong_count(place) > 1);
    let place = arriving.entry(Arc::clone(caller)).or_insert_with(|| Arc::new(Semaphore::new(1)));
    Arc::clone(place)
}

/// Waits until there are fewer documents.
///
/// # Errors
/// 503 if that takes too long.
async fn turn(places: &Semaphore) -> Result<SemaphorePermit<'_>, Problem> {
    let place = timeout(PATIENCE, places.acquire()).await;
    let busy = || {
        let detail = "other documents are being read and applied: try again";
        Problem::new(ProblemType::Overloaded).detail(detail)
    };
    place.ok().and_then(Result::ok).ok_or_else(busy)
}

fn document(upload: &Upload) -> Result<Value, Problem> {
    if !upload.media_type.contains("yaml") {
        check_size(&upload.bytes)?;
        return Json::from_bytes(&upload.bytes).map(|Json(Unique(value))| value);
    }
    let text = std::str::from_utf8(&upload.bytes);
    let text = text.map_err(|_| invalid().detail("the document is not in UTF-8"))?;
    yaml::read_value(text)
        .map_err(|error| invalid().detail(format!("the document is not YAML: {error}")))
}

fn invalid() -> Problem {
    Problem::new(ProblemType::InvalidRequest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn documents_wait_for_one_another_and_not_for_ever() {
        static PLACES: Semaphore = Semaphore::const_new(1);
        let place = turn(&PLACES).await.unwrap();
        assert!(turn(&PLACES).await.is_err());
        drop(place);
        assert!(turn(&PLACES).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_sends_nothing_keeps_nobody_else_from_sending() {
        let (silent, other) = (own_place(&"silent".into()), own_place(&"other".into()));
        let _arrives = turn(&silent).await.unwrap();
        assert!(turn(&own_place(&"silent".into())).await.is_err());
        assert!(turn(&other).await.is_ok());
    }

    #[test]
    fn a_document_of_empty_lists_without_end_is_not_read() {
        let upload = |media_type: &str, text: String| Upload {
            media_type: media_type.to_owned(),
            bytes: text.into(),
        };
        let lists = format!("{{\"rooms\":[{}[]]}}", "[],".repeat(1_000_000));
        for media_type in ["application/json", "application/yaml"] {
            assert!(document(&upload(media_type, lists.clone())).is_err(), "{media_type}");
        }
    }
}

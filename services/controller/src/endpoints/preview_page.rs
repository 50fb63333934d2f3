//! `GET /v1/rooms/{room}/preview`

use std::sync::Arc;

use axum::{
    extract::State,
    http::{
        HeaderName, HeaderValue,
        header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS},
    },
    response::{IntoResponse, Response},
};
use serde::Deserialize;
use utoipa::IntoParams;
use vestibule_domain::RoomId;
use vestibule_page::{
    CustomPage, Language, PageLogo, PageView, PreviewSample, RenderedPage, render,
};
use vestibule_runtime::{
    Problem, ProblemType,
    extract::{Path, Query},
};
use vestibule_site::{ReturnAddress, SiteBinding};

use crate::{
    endpoints::responses::{InvalidRequest, NoSuchRoom, Refusals},
    extractors::RoomPath,
    state::Controller,
};

/// Says which page it is: the room's `own`, or the `default` one.
const PAGE: HeaderName = HeaderName::from_static("vestibule-page");

/// What to show.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct PreviewQuery {
    /// `waiting` (if left out), `unknown_wait`, `random`, `prequeue`, `queue_all`, `turn`,
    /// `inside`, `reject`, `sold_out`, `over`.
    state: Option<String>,
    /// The language of the default page; the room's if left out.
    lang: Option<String>,
    /// `default`: the default page, also in a room with one of its own.
    page: Option<String>,
}

/// Shows the waiting page of a room as a visitor in a given state would see it.
///
/// With what the room itself sets, not what an event does, and with the same content security policy as visitors
/// get. The header `Vestibule-Page` says whether
/// it is the room's `own` page or the `default` one, which is shown for states that an own page
/// has no words for (`turn`, `inside`, `over`).
#[utoipa::path(
    get, path = "/v1/rooms/{room}/preview", tag = "pages",
    params(RoomPath, PreviewQuery),
    responses(
        (status = 200, description = "The page", body = String, content_type = "text/html"),
        InvalidRequest, NoSuchRoom, Refusals,
    )
)]
pub(crate) async fn preview_page(
    State(controller): State<Arc<Controller>>,
    Path(RoomPath { room }): Path<RoomPath>,
    Query(wish): Query<PreviewQuery>,
) -> Result<Response, Problem> {
    let config = controller.rooms.read_config(&room).await?;
    let (settings, binding) = (config.settings, config.binding);
    let view = wish.view(&room, &binding)?.with_words(&settings, &binding);
    let own = if wish.wants_default()? { None } else { own_page(&binding, &view) };
    let which = if own.is_some() { "own" } else { "default" };
    let rendered = match own {
        Some(rendered) => rendered,
        None => render(&view).map_err(|error| Problem::internal(&error))?,
    };
    let policy = HeaderValue::from_str(&rendered.policy);
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
        (CONTENT_SECURITY_POLICY, policy.map_err(|error| Problem::internal(&error))?),
        (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (PAGE, HeaderValue::from_static(which)),
    ];
    Ok((headers, rendered.html).into_response())
}

// === impl PreviewQuery ===

impl PreviewQuery {
    fn view(&self, room: &RoomId, binding: &SiteBinding) -> Result<PageView, Problem> {
        let language = match &self.lang {
            Some(tag) => Language::from_tag(tag)
                .ok_or_else(|| refused("lang", &Language::ALL.map(Language::code)))?,
            None => Language::negotiate(&[], "", &binding.default_language),
        };
        let name = self.state.as_deref().unwrap_or(PreviewSample::Waiting.name());
        let sample = PreviewSample::named(name)
            .ok_or_else(|| refused("state", &PreviewSample::ALL.map(PreviewSample::name)))?;
        let mut view = sample.view(room.as_str(), language);
        let logo = binding.branding.logo.as_ref().and_then(PageLogo::read);
        view.frame.logo = logo.map(|logo| logo.source(None));
        let site = binding.routes.iter().find(|route| !route.host.is_wildcard());
        view.frame.wanted = site
            .and_then(|route| ReturnAddress::parse(&format!("https://{}/", route.host), |_| true));
        view.frame.is_framed_anywhere = binding.cookie.partitioned;
        Ok(view)
    }

    fn wants_default(&self) -> Result<bool, Problem> {
        match self.page.as_deref() {
            None => Ok(false),
            Some("default") => Ok(true),
            Some(_) => Err(refused("page", &["default"])),
        }
    }
}

/// The room's own page, if it has one for this state.
fn own_page(binding: &SiteBinding, view: &PageView) -> Option<RenderedPage> {
    let html = binding.branding.html.as_deref().filter(|_| CustomPage::is_for(view))?;
    CustomPage::check(html).ok()?.render(view).ok()
}

fn refused(field: &'static str, known: &[&str]) -> Problem {
    Problem::new(ProblemType::InvalidRequest)
        .field(field, format!("must be one of: {}", known.join(", ")))
}

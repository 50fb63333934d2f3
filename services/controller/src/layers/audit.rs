//! Follows calls that change something, and has them noted. A call is finished, and noted, also if the client has gone
//! meanwhile: nobody can change something and hang up before it is written down.

use std::sync::Arc;

use axum::{
    extract::{RawPathParams, Request, State, rejection::RawPathParamsRejection},
    http::StatusCode,
    middleware::Next,
    response::{IntoResponse, Response},
};
use vestibule_runtime::{ClientCertificate, Problem, extract::unreadable};
use vestibule_store::AuditList;
use vestibule_traces::{current, within};

use super::origin::Origin;
use crate::{
    access::{Caller, Operation},
    audit::{AuditEntry, Trail},
    state::Controller,
};

/// Who calls what, and from where.
struct Call {
    caller: Caller,
    action: &'static str,
    list: AuditList,
    address: String,
    certificate: Option<String>,
}

/// Has the call noted when it is done, if it changes something.
pub(crate) async fn note_changes(
    State(controller): State<Arc<Controller>>,
    params: Result<RawPathParams, RawPathParamsRejection>,
    mut request: Request,
    next: Next,
) -> Response {
    let params = match params {
        Ok(params) => params,
        Err(error) => return unreadable(&error).into_response(),
    };
    let Some(call) = Call::of(&controller, &request) else { return next.run(request).await };
    let trail = Trail::default();
    if let Some((_, room)) = params.iter().find(|(name, _)| *name == "room") {
        trail.name_room(room);
    }
    request.extensions_mut().insert(trail.clone());
    let done = async move {
        let response = next.run(request).await;
        call.note(&controller, &trail, response.status()).await;
        response
    };
    let done = tokio::spawn(within(current(), done));
    done.await.unwrap_or_else(|error| Problem::internal(&error).into_response())
}

// === impl Call ===

impl Call {
    /// The call of this request; `None`: it changes nothing.
    fn of(controller: &Controller, request: &Request) -> Option<Self> {
        let operation = request.extensions().get::<Operation>()?;
        let caller = request.extensions().get::<Caller>()?.clone();
        let address = Origin::of(controller, request.headers()).client.to_string();
        let certificate = ClientCertificate::subject().map(|subject| subject.as_ref().to_owned());
        Some(Self { caller, action: operation.name, list: operation.noted?, address, certificate })
    }

    /// Notes what was changed, or may have been.
    async fn note(self, controller: &Controller, trail: &Trail, status: StatusCode) {
        for noted in trail.noted() {
            if !noted.is_to_be_told(status) {
                continue;
            }
            let entry = AuditEntry {
                who: Arc::clone(&self.caller.name),
                action: self.action,
                room: noted.room,
                subject: noted.subject,
                before: noted.before,
                after: noted.after,
                address: self.address.clone(),
                certificate: self.certificate.clone(),
                status: status.as_u16(),
                controller: Arc::clone(&controller.instance),
            };
            controller.audit.note(self.list, &entry).await;
        }
    }
}

//! `POST /v1/rooms/{room}/inlet/sns`

use std::sync::Arc;

use axum::{Extension, extract::State};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use vestibule_domain::{
    RoomId,
    inlet::{AlarmChange, InletReport},
};
use vestibule_runtime::{
    Problem, ProblemType,
    extract::{Json, Path},
};
use vestibule_token::{SnsKind, SnsMessage};

use super::{
    InletAlarmState,
    replace::{ExitsReported, replace},
    set_inlet_alarm::note,
};
use crate::{
    audit::Trail,
    endpoints::responses::{BodyRefusals, InvalidRequest, NoInlet, NoTopics, SnsRefusals},
    extractors::RoomPath,
    layers::Notification,
    state::Controller,
};

/// What came of a message of SNS.
#[derive(Debug, Clone, Default, Serialize, ToSchema)]
pub(crate) struct NotificationTaken {
    /// Whether a subscription was confirmed.
    confirmed: bool,
    /// How the alarm stands, if the message was of one.
    alarm: Option<InletAlarmState>,
    /// What came of the report, if the message was one.
    exits: Option<ExitsReported>,
}

/// Takes a message of Amazon SNS in.
///
/// For subscriptions of the topics in `sns_topics`, over HTTPS and without raw message delivery. What an alarm of Amazon
/// `CloudWatch` tells is taken as `PUT …/inlet/alarm`, and everything else as `POST …/inlet`; a message that is delivered again
/// counts once. A subscription is confirmed by itself. SNS shows no token: its signature is checked, by a certificate from
/// its host in the topic's region.
#[utoipa::path(
    post, path = "/v1/rooms/{room}/inlet/sns", tag = "inlets", params(RoomPath), security(()),
    request_body(content = String, content_type = "text/plain", description = "The message, JSON, as SNS posts it"),
    responses(
        (status = 200, description = "What came of it", body = NotificationTaken),
        InvalidRequest, SnsRefusals, NoTopics, NoInlet, BodyRefusals,
    )
)]
pub(crate) async fn receive_notification(
    State(controller): State<Arc<Controller>>,
    Extension(notification): Extension<Notification>,
    trail: Trail,
    Path(RoomPath { room }): Path<RoomPath>,
) -> Result<Json<NotificationTaken>, Problem> {
    let Notification { message, topic } = notification;
    let taken = match message.kind {
        SnsKind::Notification => take(&controller, &trail, &room, &message).await?,
        SnsKind::SubscriptionConfirmation => {
            controller.sns.confirm(&message, &topic).await?;
            tracing::info!(%room, topic = topic.arn(), "a subscription of sns was confirmed");
            NotificationTaken { confirmed: true, ..NotificationTaken::default() }
        }
        SnsKind::UnsubscribeConfirmation => {
            tracing::warn!(%room, topic = topic.arn(), "a subscription of sns has ended");
            NotificationTaken::default()
        }
    };
    Ok(Json(taken))
}

async fn take(
    controller: &Controller,
    trail: &Trail,
    room: &RoomId,
    message: &SnsMessage,
) -> Result<NotificationTaken, Problem> {
    let published = message.message.as_bytes();
    let Json(told): Json<Value> = Json::from_bytes(published).map_err(|_| no_json())?;
    if told.get("NewStateValue").is_some() {
        let Json(change): Json<AlarmChange> = Json::from_bytes(published)?;
        let sent_ms = message.sent_ms().map_err(crate::sns::AskError::from)?;
        let alarm = note(controller, trail, room, change.new_state_value, Some(sent_ms)).await?;
        return Ok(NotificationTaken { alarm: Some(alarm), ..NotificationTaken::default() });
    }
    let Json(report): Json<InletReport> = Json::from_bytes(published)?;
    let call = format!("sns-{}", message.message_id);
    let exits = replace(controller, trail, room, &call, &report).await?;
    Ok(NotificationTaken { exits: Some(exits), ..NotificationTaken::default() })
}

fn no_json() -> Problem {
    let what =
        "what was published is neither a report of exits nor an alarm of CloudWatch, as JSON";
    Problem::new(ProblemType::InvalidRequest).field("Message", what)
}

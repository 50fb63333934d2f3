//! Lets through only messages of Amazon SNS that the room believes: of one of its topics, signed by SNS, and sent lately.
//! The message goes on with the request, and for the audit log it is its topic that calls.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{RawPathParams, Request, State, rejection::RawPathParamsRejection},
    http::Method,
    middleware::Next,
    response::{IntoResponse, Response},
};
use vestibule_domain::{access::Role, inlet::Topic};
use vestibule_runtime::{
    Problem, ProblemType,
    extract::{read_body, unreadable},
};
use vestibule_token::SnsMessage;

use super::signed::wall_clock;
use crate::{
    access::{Caller, operation},
    state::Controller,
};

/// A message that was checked, and its topic.
#[derive(Debug, Clone)]
pub(crate) struct Notification {
    /// The message.
    pub(crate) message: Arc<SnsMessage>,
    /// The topic.
    pub(crate) topic: Topic,
}

/// Lets messages through that are believed; answers a problem to all others.
pub(crate) async fn require_notification(
    State(controller): State<Arc<Controller>>,
    params: Result<RawPathParams, RawPathParamsRejection>,
    request: Request,
    next: Next,
) -> Response {
    let params = match params {
        Ok(params) => params,
        Err(error) => return unreadable(&error).into_response(),
    };
    let room = params.iter().find(|(name, _)| *name == "room").map_or("", |(_, room)| room);
    match believed(&controller, room, request).await {
        Ok(request) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

async fn believed(
    controller: &Controller,
    room: &str,
    request: Request,
) -> Result<Request, Problem> {
    let known = controller.feed.room(room).ok_or(Problem::new(ProblemType::RoomNotFound))?;
    let snapshot = known.snapshot();
    let topics = &snapshot.settings.sns_topics;
    if topics.is_empty() {
        let why = "the room has no sns_topics, whose messages it would believe";
        return Err(Problem::new(ProblemType::NotFound).detail(why));
    }
    let (mut parts, body) = request.into_parts();
    let body = read_body(body).await?;
    let message = SnsMessage::read(&body).map_err(crate::sns::AskError::from)?;
    let topic = topics.iter().find(|topic| **topic == message.topic_arn);
    let topic: Topic = topic.and_then(|topic| topic.parse().ok()).ok_or_else(|| {
        Problem::new(ProblemType::UnbelievedMessage)
            .detail("its TopicArn is not in the room's sns_topics")
    })?;
    controller.sns.check(&message, &topic, wall_clock()).await?;
    parts.extensions.insert(Caller::new(
        &format!("sns:{}", topic.name()),
        Role::Operator,
        (&snapshot.room).into(),
    ));
    parts.extensions.insert(operation(&Method::POST, ROUTE));
    parts.extensions.insert(Notification { message: Arc::new(message), topic });
    Ok(Request::from_parts(parts, Body::empty()))
}

/// As the router has it.
const ROUTE: &str = "/v1/rooms/{room}/inlet/sns";

//! One request of an attacker, as bytes would have it: what was sent once can be sent again.

use serde_json::{Value, json};
use vestibule_simulation::{Answer, Carried};

use crate::guests::{Hall, ticket_of};

/// A request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Request {
    Join(Carried),
    Status(Carried),
    Claim(Carried),
    Leave(Carried),
    /// Asking for the site.
    Page(Carried),
    /// A call of the AWS-style API: method, path, body.
    Aws(&'static str, String, Value),
}

/// What came of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Came {
    pub(crate) answer: Option<Answer>,
    /// The status of an AWS-style call.
    pub(crate) status: u16,
}

// === impl Request ===

impl Request {
    /// `GET /{call}` about a request id.
    pub(crate) fn look(hall: &Hall, call: &str, request_id: &str) -> Self {
        let path = format!("/{call}?event_id={}&request_id={request_id}", hall.room);
        Self::Aws("GET", path, Value::Null)
    }

    /// `POST /generate_token`.
    pub(crate) fn tokens(hall: &Hall, request_id: &str) -> Self {
        let body = json!({ "event_id": hall.room, "request_id": request_id });
        Self::Aws("POST", "/generate_token".to_owned(), body)
    }

    /// Whether it may be sent again at any time. With the ticket of a seat that is over, a join and a request
    /// for the site are those of a newcomer, who takes another place: limits are against that, and not what
    /// is judged here.
    pub(crate) fn is_ever_the_same(&self) -> bool {
        match self {
            Self::Join(carried) | Self::Page(carried) => carried.ticket.seat().is_none(),
            _ => true,
        }
    }

    /// Sends it, as `guest`.
    pub(crate) async fn send(&self, hall: &Hall, guest: u64) -> Came {
        if let Self::Aws(method, path, body) = self {
            let reply = hall.send(guest, method, path, body).await;
            return Came { answer: None, status: reply.map_or(0, |reply| reply.status) };
        }
        let room = hall.room.as_str();
        let answer = hall
            .visit(guest, async |admission| match self {
                Self::Join(ticket) => admission.join(room, Some(*ticket)).await.map(Some),
                Self::Status(ticket) => admission.status(room, *ticket).await.map(Some),
                Self::Claim(ticket) => admission.claim(room, *ticket).await.map(Some),
                Self::Leave(ticket) => admission.leave(room, *ticket).await.map(Some),
                Self::Page(ticket) => admission.authorize(room, Some(*ticket)).await,
                Self::Aws(..) => Ok(None),
            })
            .await;
        Came { answer: answer.flatten(), ..Came::default() }
    }
}

// === impl Came ===

impl Came {
    /// The ticket of a seat, if one came.
    pub(crate) fn seated(&self) -> Option<Carried> {
        let ticket = self.answer.as_ref().and_then(ticket_of)?;
        ticket.ticket.seat().map(|_| ticket)
    }
}

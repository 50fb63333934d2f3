//! A guest with a client of the AWS-style calls: takes a number, looks at the public counter and at its own
//! number every two seconds, and asks for its tokens when it is served. Its seat is its tokens' as long as
//! they are valid.

use serde_json::{Value, json};
use vestibule_simulation::Reply;

use super::{Hall, Rhythm};

/// Its visit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct AwsGuest {
    pub(crate) number: u64,
    pub(crate) comes_ms: u64,
    /// About how often it asks, ms.
    pub(crate) asks_every_ms: u64,
    /// How long tokens are valid in this room, ms.
    pub(crate) stays_ms: u64,
}

// === impl AwsGuest ===

impl AwsGuest {
    /// Its whole visit.
    pub(crate) async fn visit(self, hall: Hall) {
        hall.until(self.comes_ms).await;
        let Some(request_id) = self.take_a_number(&hall).await else { return };
        let mut rhythm = Rhythm::new(hall.seed, self.number, self.comes_ms, self.asks_every_ms);
        loop {
            hall.until(rhythm.after(hall.now_ms())).await;
            if !self.is_served(&hall, &request_id).await {
                continue;
            }
            let now_ms = hall.now_ms();
            hall.diary.write(self.number, |page| {
                page.turn_ms.get_or_insert(now_ms);
            });
            let body = json!({ "event_id": hall.room, "request_id": request_id });
            let reply = hall.send(self.number, "POST", "/generate_token", &body).await;
            if reply.is_some_and(|reply| reply.status == 200) {
                break;
            }
        }
        let entered_ms = hall.now_ms();
        hall.diary.write(self.number, |page| {
            page.entered_ms = Some(entered_ms);
            page.left_ms = Some(entered_ms + self.stays_ms);
        });
    }

    async fn take_a_number(self, hall: &Hall) -> Option<String> {
        let (room, now_ms) = (hall.room.as_str(), hall.now_ms());
        let call = async |admission: &vestibule_simulation::Admission| {
            admission.assign_queue_num(room).await
        };
        let request_id = hall.visit(self.number, call).await?;
        hall.diary.write(self.number, |page| page.came_ms = Some(now_ms));
        Some(request_id)
    }

    async fn is_served(self, hall: &Hall, request_id: &str) -> bool {
        let room = &hall.room;
        let serving = format!("/serving_num?event_id={room}");
        let own = format!("/queue_num?event_id={room}&request_id={request_id}");
        let serving = hall.send(self.number, "GET", &serving, &Value::Null).await;
        let own = hall.send(self.number, "GET", &own, &Value::Null).await;
        let number = |reply: Option<Reply>, name| {
            let value = reply?.body[name].clone();
            value.as_i64().or_else(|| value.as_str()?.parse().ok())
        };
        let own = number(own, "queue_number");
        let position = own.and_then(|own| u64::try_from(own).ok());
        hall.diary.write(self.number, |page| page.position = position.or(page.position));
        own.zip(number(serving, "serving_counter")).is_some_and(|(own, serving)| own <= serving)
    }
}

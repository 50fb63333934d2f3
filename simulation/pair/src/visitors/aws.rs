//! A client of the AWS-style calls: takes a number, looks at the serving counter, and asks for its
//! tokens when it is served.

use serde_json::{Value, json};
use vestibule_history::Act;

use super::Visitor;
use crate::Reply;

/// How often such clients ask, ms.
const ASKS_MS: u64 = 2_000;

// === impl Visitor ===

impl Visitor {
    /// Comes, waits for so long at most, enters, and is heard of no more.
    pub(super) async fn be_aws_style(mut self, arrives_ms: u64, waits_ms: u64) {
        self.wait_ms(arrives_ms).await;
        let Some(request_id) = self.take_a_number().await else { return };
        let until_ms = self.stage.history.now_ms() + waits_ms;
        while self.stage.history.now_ms() < until_ms {
            self.wait_ms(ASKS_MS + self.stage.history.now_ms() % 7).await;
            if !self.is_served(&request_id).await {
                continue;
            }
            let body = json!({ "event_id": self.stage.room, "request_id": request_id });
            match self.ask("POST", "/generate_token", body).await {
                Some(Reply { status: 202, .. }) | None => {}
                Some(_) => return,
            }
        }
        self.act_now(Act::ClosedTab);
    }

    async fn take_a_number(&mut self) -> Option<String> {
        for _ in 0..5 {
            let body = json!({ "event_id": self.stage.room });
            if let Some(reply) = self.ask("POST", "/assign_queue_num", body).await
                && let Some(id) = reply.body["api_request_id"].as_str()
            {
                return Some(id.to_owned());
            }
            self.wait_ms(ASKS_MS).await;
        }
        None
    }

    async fn is_served(&mut self, request_id: &str) -> bool {
        let room = &self.stage.room;
        let serving = format!("/serving_num?event_id={room}");
        let own = format!("/queue_num?event_id={room}&request_id={request_id}");
        let Some(serving) = self.ask("GET", &serving, Value::Null).await else { return false };
        let Some(own) = self.ask("GET", &own, Value::Null).await else { return false };
        let number = |value: &Value| value.as_i64().or_else(|| value.as_str()?.parse().ok());
        match (number(&serving.body["serving_counter"]), number(&own.body["queue_number"])) {
            (Some(serving), Some(own)) => own <= serving,
            _ => false,
        }
    }

    async fn ask(&mut self, method: &str, path: &str, body: Value) -> Option<Reply> {
        let reply = self.stage.door.send(&mut self.chance, (method, path), &body).await.ok()?;
        if reply.status == 500 {
            self.stage.history.mistake(&self.name, &format!("{method} {path}: {}", reply.body));
        }
        (reply.status < 500).then_some(reply)
    }
}

//! One round of one webhook: the next events, those that it wants are sent, and how far it was told is noted.
//!
//! Events of a room are sent one after the other, and so are those of no room; those of visitors are in no order. What
//! fails keeps what comes after it in its order, and the webhook goes on with later events only once all of these were
//! told. So a receiver that refuses an event for good holds up all others of its webhook, until it is switched off.

use std::collections::BTreeMap;

use futures_util::{StreamExt, stream};
use vestibule_domain::webhook::{Delivery, EventKind, Webhook};
use vestibule_store::{OutgoingEvent, Store, StoreError};
use vestibule_token::WebhookSecret;

use super::{Envelope, Sent, WebhookClient, WebhookMetrics};

/// The most events of a round: so many may be sent once more if this controller dies.
const BATCH: usize = 64;
/// How many are sent at the same time.
const AT_ONCE: usize = 8;

/// What came of a round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Round {
    /// There was nothing to be told.
    Idle,
    /// All of it was told, or is none of its.
    Told,
    /// Something was not.
    Failed {
        /// What was answered.
        why: String,
        /// How long the receiver asks to be left alone, in seconds.
        asked_s: Option<u64>,
    },
    /// The receiver wants nothing any more.
    Gone,
}

/// An event and its place in the stream.
type Placed = (String, OutgoingEvent);

/// What came of the events that are sent one after the other.
struct Lane {
    told: Vec<String>,
    stopped_by: Option<Sent>,
}

/// One webhook, to be told.
#[derive(Debug)]
pub(crate) struct Telling<'a> {
    /// Its name.
    pub(crate) name: &'a str,
    /// The webhook.
    pub(crate) webhook: &'a Webhook,
    /// What its events are signed with.
    pub(crate) secrets: &'a [WebhookSecret],
    /// By whom it is told.
    pub(crate) client: &'a WebhookClient,
    /// Where attempts are counted.
    pub(crate) metrics: &'a WebhookMetrics,
}

// === impl Telling ===

impl Telling<'_> {
    /// One round at `now_ms`. Notes in `delivery` which events were told, and nothing of failures.
    ///
    /// # Errors
    /// If the events cannot be read.
    pub(crate) async fn round(
        &self,
        store: &Store,
        delivery: &mut Delivery,
        now_ms: u64,
    ) -> Result<Round, StoreError> {
        let (events, is_there) = store.read_events(&delivery.cursor, BATCH).await?;
        if events.is_empty() {
            return Ok(Round::Idle);
        }
        if !is_there && delivery.has_read() {
            delivery.missed_at_ms = now_ms;
            let webhook = self.name;
            tracing::warn!(webhook, "events were forgotten before a webhook was told");
        }
        let places: Vec<_> = events.iter().map(|(place, _)| place.clone()).collect();
        let (wanted, others) = self.sort(events, delivery);
        let lanes = stream::iter(lanes(wanted).into_values());
        let sent = lanes.map(|lane| self.send(lane, now_ms / 1_000));
        let sent: Vec<Lane> = sent.buffer_unordered(AT_ONCE).collect().await;
        let has_sent = sent.iter().any(|lane| !lane.told.is_empty());
        let mut outcome = Round::Told;
        let mut told = others;
        for lane in sent {
            told.extend(lane.told);
            outcome = worse(outcome, lane.stopped_by);
        }
        delivery.note_told(&places, told);
        if outcome == Round::Told {
            delivery.succeed(now_ms, has_sent);
        }
        Ok(outcome)
    }

    /// The events that it is to be told, and the places of the others.
    fn sort(&self, events: Vec<Placed>, delivery: &Delivery) -> (Vec<Placed>, Vec<String>) {
        let is_due = |(place, event): &Placed| {
            !delivery.told.contains(place) && self.webhook.wants(&event.kind, &event.room)
        };
        let (wanted, others): (Vec<_>, Vec<_>) = events.into_iter().partition(is_due);
        (wanted, others.into_iter().map(|(place, _)| place).collect())
    }

    /// Sends events one after the other, up to the first that is not told.
    async fn send(&self, events: Vec<Placed>, timestamp: u64) -> Lane {
        let mut lane = Lane { told: Vec::new(), stopped_by: None };
        for (place, event) in events {
            let envelope = Envelope { id: &event.id, timestamp, body: &event.body };
            let sent = self.client.send(self.webhook, self.secrets, envelope).await;
            let is_told = matches!(sent, Sent::Told(_));
            self.metrics.count(self.name, is_told);
            if !is_told {
                lane.stopped_by = Some(sent);
                break;
            }
            lane.told.push(place);
        }
        lane
    }
}

/// Events by what they are in one order with.
fn lanes(events: Vec<Placed>) -> BTreeMap<String, Vec<Placed>> {
    let mut lanes: BTreeMap<String, Vec<Placed>> = BTreeMap::new();
    for (place, event) in events {
        let is_alone = event.kind.parse().is_ok_and(EventKind::is_of_a_visitor);
        let lane = if is_alone { &event.id } else { &event.room };
        lanes.entry(lane.clone()).or_default().push((place, event));
    }
    lanes
}

fn worse(before: Round, stopped_by: Option<Sent>) -> Round {
    match (before, stopped_by) {
        (Round::Gone, _) | (_, Some(Sent::Gone)) => Round::Gone,
        (Round::Failed { why, asked_s }, Some(Sent::Failed { asked_s: other, .. })) => {
            Round::Failed { why, asked_s: asked_s.max(other) }
        }
        (_, Some(Sent::Failed { why, asked_s })) => Round::Failed { why, asked_s },
        (before, _) => before,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(place: &str, kind: &str, room: &str) -> Placed {
        let (id, body) = (format!("msg_{place}"), String::new());
        let (kind, room) = (kind.to_owned(), room.to_owned());
        (place.to_owned(), OutgoingEvent { id, kind, room, body })
    }

    #[test]
    fn events_of_a_room_are_in_one_order_and_those_of_visitors_in_none() {
        let lanes = lanes(vec![
            placed("1-0", "room.queueing_began", "a"),
            placed("2-0", "token_generated", "a"),
            placed("3-0", "alarm.firing", ""),
            placed("4-0", "room.queueing_ended", "a"),
            placed("5-0", "a.later.release", "b"),
        ]);
        let places = |name: &str| lanes[name].iter().map(|(place, _)| &**place).collect::<Vec<_>>();
        assert_eq!(lanes.len(), 4);
        assert_eq!(places("a"), ["1-0", "4-0"]);
        assert_eq!((places(""), places("msg_2-0")), (vec!["3-0"], vec!["2-0"]));
    }

    #[test]
    fn the_worst_counts() {
        let failed = |asked_s| Sent::Failed { why: "500".to_owned(), asked_s };
        let round = worse(worse(Round::Told, Some(failed(None))), Some(failed(Some(9))));
        assert_eq!(round, Round::Failed { why: "500".to_owned(), asked_s: Some(9) });
        assert_eq!(worse(round, None), Round::Failed { why: "500".to_owned(), asked_s: Some(9) });
        assert_eq!(worse(Round::Told, Some(Sent::Gone)), Round::Gone);
        assert_eq!(worse(Round::Gone, Some(failed(None))), Round::Gone);
    }
}

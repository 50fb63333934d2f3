//! The documents of the controller's API. Rooms, events and their parts are types of
//! `vestibule-domain` and `vestibule-site`, which describe and check them; here they are put together.

mod declaration;
mod dry_run;
mod event;
mod history;
mod history_csv;
mod members;
mod plan;
mod refusal;
mod room;
mod status;
mod webhook;
mod wrong;

pub use declaration::{Declaration, DeclaredRoom};
pub(crate) use declaration::{DeclarationSchema, Detail, editors_schema};
pub use dry_run::{DryRunRequest, Match, MatchedRule, RuleVerdict};
pub use event::{Event, EventDetails, EventList};
pub(crate) use event::{invalid_event, take_commitment};
pub use history::{History, HistoryStep, Minute, PeopleCounts};
pub(crate) use history_csv::csv;
pub use members::Members;
pub use plan::{Action, FieldChange, People, Plan, Step};
pub(crate) use refusal::refuse;
pub(crate) use room::invalid_room;
pub use room::{Draft, Room, RoomList};
pub use status::{RoomState, RoomStatus};
pub(crate) use webhook::{NewWebhook, Webhook, WebhookList, WebhookRequest, WebhookTest};
pub(crate) use wrong::Wrong;

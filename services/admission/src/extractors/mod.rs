//! What handlers take from a request: which room, and which ticket. The ticket is opened here, once;
//! everything further inside works with its value.

mod accept;
mod initiator;
mod key_proof;
mod room_path;
mod solution;
mod ticket_transport;
mod turn;
mod visitor_request;

pub(crate) use accept::{is_for_people, wants_cloudflares_form, wants_json, wants_page_json};
pub(crate) use initiator::{Initiator, is_form_of_another_site, is_named, is_navigation};
pub(crate) use key_proof::{Asked, AskedBy};
pub(crate) use room_path::{RoomPath, TicketHeader};
pub(crate) use solution::{ChallengeHeader, solution};
pub(crate) use ticket_transport::{Cookies, TICKET, TicketTransport, cookies};
pub(crate) use turn::{TurnQuery, turn_of_page};
pub(crate) use visitor_request::{PresentedTicket, VisitorRequest, room, room_at};

//! What AWS-style clients call a room is one room's alone: neither two rooms have the same event id, nor has one another
//! room's name.

use vestibule_domain::{FieldError, RoomId, schedule::RoomConfig, settings::RoomSettings};
use vestibule_runtime::{Problem, ProblemType};

use super::directory::RoomDirectory;

/// Whose event id or name the event id of `settings` is, among the `others`.
pub(crate) fn error_of_event_id<'a>(
    settings: &RoomSettings,
    mut others: impl Iterator<Item = (&'a RoomId, &'a RoomSettings)>,
) -> Option<FieldError> {
    let event_id = settings.aws_event_id.as_ref()?;
    let reason = others.find_map(|(room, other)| {
        if room.as_str() == event_id {
            return Some(format!("is the name of the room `{room}`"));
        }
        let is_taken = other.aws_event_id.as_ref() == Some(event_id);
        is_taken.then(|| format!("is the event id of the room `{room}`"))
    })?;
    Some(FieldError { field: "aws_event_id".into(), reason })
}

/// Refuses to create a room whose name is another room's event id, as far as this instance knows: its clients would get
/// to the new one.
pub(super) fn refuse_names_taken(
    rooms: &RoomDirectory,
    room: &RoomId,
    config: &RoomConfig,
) -> Result<(), Problem> {
    let other = (config.version == 0).then(|| rooms.room_with_event_id(room.as_str())).flatten();
    match other.filter(|other| other != room) {
        Some(other) => {
            let reason = format!("is the `aws_event_id` of the room `{other}`");
            Err(Problem::new(ProblemType::InvalidRequest).field("room", reason))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(event_id: Option<&str>) -> RoomSettings {
        RoomSettings { aws_event_id: event_id.map(Into::into), ..RoomSettings::default() }
    }

    #[test]
    fn an_event_id_is_one_rooms_alone() {
        let [sale, vip] = ["sale", "vip"].map(|name| RoomId::new(name).unwrap());
        let (plain, sample) = (settings(None), settings(Some("Sample")));
        let others = [(&sale, &plain), (&vip, &sample)];
        let error = |event_id| error_of_event_id(&settings(event_id), others.into_iter());
        assert_eq!(error(None), None);
        assert_eq!(error(Some("sample")), None);
        let reason = |event_id| error(Some(event_id)).unwrap().reason;
        assert_eq!(reason("Sample"), "is the event id of the room `vip`");
        assert_eq!(reason("sale"), "is the name of the room `sale`");
    }
}

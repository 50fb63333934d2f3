//! Finding out whether a file is whole and can be restored, before anything is changed.

use std::{collections::BTreeSet, io::BufRead};

use vestibule_store::DeploymentCopy;

use super::{
    copied::Copied,
    format::{Header, Line, RoomPiece},
    reader::{FormatError, Reader},
};

/// What a file holds beside the pieces of rooms.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Contents {
    /// Its first line.
    pub(super) header: Header,
    /// What belongs to no room.
    pub(super) deployment: DeploymentCopy,
    /// How many rooms will be left: those that were deleted while others were copied are deleted again.
    pub(super) rooms: usize,
}

/// Reads a file to its end, without keeping the rooms.
///
/// # Errors
/// If it cannot be restored, see [`FormatError`].
pub(super) fn check(input: impl BufRead) -> Result<Contents, FormatError> {
    let (header, mut reader) = Reader::begin(input)?;
    let (mut found, mut whole) = (None, Copied::default());
    while let Some(line) = reader.next()? {
        match line {
            Line::Piece(RoomPiece { room, piece }) if whole.has(&room) => {
                return Err(
                    reader.wrong(format!("`{}` comes after the line of {room}", piece.key()))
                );
            }
            Line::Piece(RoomPiece { room, piece }) if !piece.is_known() => {
                let why = "which this release does not know: restore it with a later release";
                return Err(
                    reader.wrong(format!("room {room} has a part `{}`, {why}", piece.key()))
                );
            }
            Line::Piece(RoomPiece { room, piece }) => whole.take(&room, &piece),
            Line::Audit(_) if found.is_none() => {}
            Line::Deployment(deployment) if found.is_none() => found = Some(deployment),
            _ => return Err(reader.wrong("it is not expected here".to_owned())),
        }
    }
    let Some(deployment) = found else {
        return Err(reader.wrong("what belongs to no room is missing before it".to_owned()));
    };
    if whole.rooms().iter().collect::<BTreeSet<_>>() != deployment.rooms.iter().collect() {
        return Err(reader.wrong("the rooms before it are not those that are listed".to_owned()));
    }
    let rooms = whole.count_left(&deployment.tombstones);
    Ok(Contents { header, deployment, rooms })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use vestibule_domain::RoomId;
    use vestibule_store::Piece;

    use super::{
        super::{format::VERSION, writer::Writer},
        *,
    };

    fn header() -> Header {
        Header { version: VERSION, release: "1.2.3".to_owned(), taken_at: 5, closed: false }
    }

    fn piece(room: &str, key: &str) -> Line {
        let fields = BTreeMap::from([("a".to_owned(), "1".to_owned())]);
        let piece = Piece::Hash { key: key.to_owned(), fields };
        Line::Piece(RoomPiece { room: RoomId::new(room).unwrap(), piece })
    }

    fn deployment(rooms: &[&str]) -> Line {
        let rooms = rooms.iter().map(|room| RoomId::new(*room).unwrap()).collect();
        Line::Deployment(DeploymentCopy { schema: 1, rooms, ..DeploymentCopy::default() })
    }

    fn file(lines: &[Line]) -> Vec<u8> {
        let mut writer = Writer::new(Vec::new());
        writer.add(&Line::Backup(header())).unwrap();
        for line in lines {
            writer.add(line).unwrap();
        }
        writer.end().unwrap()
    }

    fn good() -> Vec<u8> {
        file(&[piece("sale", "settings"), piece("sale", "line"), deployment(&["sale"])])
    }

    #[track_caller]
    fn is_refused(bytes: &[u8], why: &str) {
        let error = check(bytes).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }

    #[test]
    fn what_was_written_is_read() {
        let good = good();
        assert_eq!(check(&*good).unwrap().header, header());
        let (_, mut reader) = Reader::begin(&*good).unwrap();
        assert_eq!(reader.next().unwrap(), Some(piece("sale", "settings")));
    }

    #[test]
    fn a_room_that_was_deleted_while_others_were_copied_is_not_counted() {
        let Line::Deployment(copy) = deployment(&["sale", "vip"]) else { panic!() };
        let with = |tombstones| Line::Deployment(DeploymentCopy { tombstones, ..copy.clone() });
        let lines = |last| file(&[piece("sale", "line"), piece("vip", "line"), last]);
        assert_eq!(check(&*lines(with(BTreeMap::new()))).unwrap().rooms, 2);
        let deleted = BTreeMap::from([(copy.rooms[0].clone(), 7)]);
        assert_eq!(check(&*lines(with(deleted))).unwrap().rooms, 1);
    }

    #[test]
    fn wherever_it_is_cut_it_is_refused() {
        let good = good();
        for length in 0..good.len() {
            assert!(check(&good[..length]).is_err(), "{length} bytes");
        }
        let lines = good.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        let third = lines.map(|(at, _)| at).nth(2).unwrap();
        is_refused(&good[..=third], "cut short after line 3");
        is_refused(&good[..third + 9], "cut short after line 3");
    }

    #[test]
    fn whatever_is_changed_it_is_refused() {
        let good = good();
        for at in 0..good.len() {
            let mut changed = good.clone();
            changed[at] ^= 1;
            assert!(check(&*changed).is_err(), "byte {at}");
        }
        let text = String::from_utf8(good).unwrap();
        is_refused(text.replace(r#""a":"1""#, r#""a":"2""#).as_bytes(), "checksum");
        let (first, _) = text.split_once(r#"{"piece""#).unwrap();
        let (_, last) = text.split_once(r#"{"deployment""#).unwrap();
        is_refused(format!(r#"{first}{{"deployment"{last}"#).as_bytes(), "checksum");
        is_refused(format!("{text}{{}}\n").as_bytes(), "line 5: more follows after it");
    }

    #[test]
    fn what_is_no_backup_is_told_from_one_of_a_later_release() {
        is_refused(b"", "no backup of Vestibule");
        is_refused(b"\x00\xff\x00", "no backup of Vestibule");
        is_refused(b"{\"room\":1}\n", "no backup of Vestibule");
        let newer = br#"{"backup":{"version":9,"release":"8.0.0","wishes":[]}}"#;
        is_refused(
            newer,
            "format 9, and this release reads formats up to 3: restore it with release 8.0.0",
        );
    }

    #[test]
    fn a_file_that_was_put_together_wrongly_is_refused() {
        let whole = [piece("sale", "line"), deployment(&["sale"])];
        assert!(check(&*file(&whole)).is_ok());
        is_refused(&file(&whole[..1]), "line 3: what belongs to no room is missing");
        is_refused(&file(&whole[1..]), "the rooms before it are not those that are listed");
        is_refused(&file(&[piece("sale", "line"), piece("sale", "rate")]), "comes after the line");
        is_refused(&file(&[piece("sale", "wishes")]), "line 2: room sale has a part `wishes`");
        is_refused(&file(&[deployment(&[]), deployment(&[])]), "line 3: it is not expected here");
    }
}

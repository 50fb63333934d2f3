//! Reading files of rooms: each part remembers its file and its line, and pages and logos are read from beside them. What
//! is in a room is not looked at here.

use std::{
    collections::BTreeMap,
    fmt, fs,
    io::{self, Read},
    path::{Path, PathBuf},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Map, Value, json};

use crate::yaml::{self, Yaml};

/// What stands for standard input.
const STDIN: &str = "-";

/// What names a file, and in whose place.
const FILES: [(&str, &str); 2] = [("page_file", "page"), ("logo_file", "logo")];

/// Several files as one document.
#[derive(Debug, Default)]
pub(super) struct Files {
    rooms: Map<String, Value>,
    /// What is beside `rooms` in a file.
    others: Map<String, Value>,
    /// Where each part is, by its path.
    places: BTreeMap<String, Place>,
}

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    file: String,
    line: u64,
}

/// A file cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileError {
    /// It cannot be read.
    #[error("cannot read {file}")]
    Unreadable {
        /// The file.
        file: String,
        /// Why.
        source: io::Error,
    },
    /// It cannot be written.
    #[error("cannot write {file}")]
    Unwritable {
        /// The file.
        file: String,
        /// Why.
        source: io::Error,
    },
    /// It is no YAML.
    #[error("{place}: {reason}")]
    Wrong {
        /// File and line.
        place: String,
        /// What is wrong.
        reason: String,
    },
    /// There is nothing in the folder.
    #[error("{0} has no files that end in .yaml, .yml or .json")]
    Empty(String),
}

// === impl Files ===

impl Files {
    /// Reads all of these; of a folder the files in it that end in `.yaml`, `.yml` or `.json`.
    ///
    /// # Errors
    /// If one cannot be read, is no YAML, or has a room that another one has.
    pub(super) fn read(paths: &[PathBuf]) -> Result<Self, FileError> {
        let mut files = Self::default();
        for path in paths {
            for path in within(path)? {
                files.add(&path)?;
            }
        }
        Ok(files)
    }

    /// The document, as it is sent.
    pub(super) fn document(&self) -> Value {
        let mut document = self.others.clone();
        document.insert("rooms".to_owned(), self.rooms.clone().into());
        document.into()
    }

    /// Where the part of this path is, or the nearest one above it that is there.
    pub(super) fn place_of(&self, path: &str) -> Option<&Place> {
        let mut part = path;
        loop {
            if let Some(place) = self.places.get(part) {
                return Some(place);
            }
            part = &part[..part.rfind(['.', '['])?];
        }
    }

    fn add(&mut self, path: &Path) -> Result<(), FileError> {
        let name = if path == Path::new(STDIN) {
            "standard input".to_owned()
        } else {
            path.display().to_string()
        };
        let text =
            text_of(path).map_err(|source| FileError::Unreadable { file: name.clone(), source })?;
        let Yaml { value, lines } = yaml::read(&text).map_err(|error| FileError::Wrong {
            place: error.line.map_or_else(|| name.clone(), |line| format!("{name}:{line}")),
            reason: error.reason,
        })?;
        let place = |part: &str| {
            lines.get(part).map_or_else(|| name.clone(), |line| format!("{name}:{line}"))
        };
        let wrong = |part: &str, reason: String| FileError::Wrong { place: place(part), reason };
        let Value::Object(mut members) = value else {
            return Err(wrong("", "must have `rooms`, by name".to_owned()));
        };
        let Some(Value::Object(rooms)) = members.remove("rooms") else {
            let reason = "must have `rooms`, by name; `rooms: {}` for none".to_owned();
            return Err(wrong("rooms", reason));
        };
        for (room, mut members) in rooms {
            let part = format!("rooms.{room}");
            if let Some(other) = self.places.get(&part) {
                return Err(wrong(&part, format!("the room {room} is also in {other}")));
            }
            bring_in(path, &part, &mut members, &wrong)?;
            self.rooms.insert(room, members);
        }
        self.others.extend(members);
        for (part, line) in lines {
            let place = Place { file: name.clone(), line };
            // A page that is wrong is told where its file is named.
            let instead = FILES.iter().find_map(|(file, instead)| {
                Some(format!("{}.{instead}", part.strip_suffix(&format!(".{file}"))?))
            });
            self.places.extend(instead.map(|part| (part, place.clone())));
            self.places.insert(part, place);
        }
        Ok(())
    }
}

// === impl Place ===

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// Puts what `page_file` and `logo_file` name in their place.
fn bring_in(
    from: &Path,
    part: &str,
    room: &mut Value,
    wrong: &impl Fn(&str, String) -> FileError,
) -> Result<(), FileError> {
    let Value::Object(room) = room else { return Ok(()) };
    for (name, instead) in FILES {
        let at = format!("{part}.{name}");
        let file = match room.remove(name) {
            None | Some(Value::Null) => continue,
            Some(Value::String(file)) => file,
            Some(_) => return Err(wrong(&at, format!("{at}: must be the name of a file"))),
        };
        if room.contains_key(instead) {
            return Err(wrong(&at, format!("{at}: give `{name}` or `{instead}`, not both")));
        }
        let path = from.parent().unwrap_or(Path::new("")).join(&file);
        let unreadable =
            |error: io::Error| wrong(&at, format!("{at}: cannot read {}: {error}", path.display()));
        let bytes = fs::read(&path).map_err(unreadable)?;
        let value = if instead == "page" { page(bytes) } else { logo(&path, &bytes) };
        let value =
            value.map_err(|reason| wrong(&at, format!("{at}: {} {reason}", path.display())))?;
        room.insert(instead.to_owned(), value);
    }
    Ok(())
}

fn page(bytes: Vec<u8>) -> Result<Value, &'static str> {
    String::from_utf8(bytes).map(Value::from).map_err(|_| "is not in UTF-8")
}

fn logo(path: &Path, bytes: &[u8]) -> Result<Value, &'static str> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let media_type = match ending.to_ascii_lowercase().as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        _ => return Err("does not end in .png, .jpg, .gif, .webp or .svg"),
    };
    Ok(json!({ "media_type": media_type, "base64": STANDARD.encode(bytes) }))
}

/// The files of a folder, by name; anything else is itself.
fn within(path: &Path) -> Result<Vec<PathBuf>, FileError> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let file = path.display().to_string();
    let entries = fs::read_dir(path).and_then(|entries| {
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>()
    });
    let mut paths =
        entries.map_err(|source| FileError::Unreadable { file: file.clone(), source })?;
    let is_one = |path: &PathBuf| {
        let ending = path.extension().and_then(|ending| ending.to_str());
        path.is_file() && matches!(ending, Some("yaml" | "yml" | "json"))
    };
    paths.retain(is_one);
    paths.sort();
    if paths.is_empty() { Err(FileError::Empty(file)) } else { Ok(paths) }
}

fn text_of(path: &Path) -> io::Result<String> {
    if path != Path::new(STDIN) {
        return fs::read_to_string(path);
    }
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).map(|_| text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    }

    #[test]
    fn the_files_of_a_folder_are_one_document_with_their_pages() {
        let folder = folder(&[
            (
                "a.yaml",
                "rooms:\n  sale:\n    queue_all: true\n    page_file: sale.html\n    logo_file: x.GIF\n",
            ),
            ("b.json", r#"{"rooms": {"vip": {}}}"#),
            ("sale.html", "<p>{{waitTime}}</p>"),
            ("x.GIF", "GIF89"),
            ("notes.txt", "not one of them"),
        ]);
        let files = Files::read(&[folder.path().to_owned()]).unwrap();
        let expected = json!({ "rooms": {
            "sale": { "queue_all": true, "page": "<p>{{waitTime}}</p>",
                "logo": { "media_type": "image/gif", "base64": "R0lGODk=" } },
            "vip": {},
        } });
        assert_eq!(files.document(), expected);
        let place = |path: &str| {
            let place = files.place_of(path).unwrap().to_string();
            place.rsplit('/').next().unwrap().to_owned()
        };
        assert_eq!(place("rooms.sale.queue_all"), "a.yaml:3");
        assert_eq!(place("rooms.sale.page"), "a.yaml:4");
        assert_eq!(place("rooms.sale.routes[0].host"), "a.yaml:2");
        assert_eq!(place("rooms.vip.x"), "b.json:1");
    }

    #[test]
    fn what_cannot_be_used_is_told_with_its_place() {
        for (files, expected) in [
            (vec![("a.yaml", "rooms:\n  a:\n   b: [\n")], "a.yaml:3: "),
            (vec![("a.yaml", "room: {}\n")], "must have `rooms`"),
            (
                vec![("a.yaml", "rooms: {sale: {}}\n"), ("b.yaml", "rooms:\n  sale: {}\n")],
                "b.yaml:2: the room sale is also in",
            ),
            (
                vec![("a.yaml", "rooms:\n  sale:\n    page_file: none.html\n")],
                "a.yaml:3: rooms.sale.page_file: cannot read",
            ),
            (vec![("a.yaml", "rooms:\n  sale:\n    page_file: a.yaml\n    page: x\n")], "not both"),
            (vec![("a.yaml", "rooms:\n  sale:\n    logo_file: a.yaml\n")], "does not end in .png"),
            (vec![("a.txt", "")], "has no files that end in"),
        ] {
            let folder = folder(&files);
            let error = Files::read(&[folder.path().to_owned()]).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        assert!(Files::read(&["/nowhere.yaml".into()]).is_err());
    }
}

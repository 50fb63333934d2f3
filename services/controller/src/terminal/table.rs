//! Rooms as a table: what each does this moment.

use comfy_table::{CellAlignment, Row, Table, presets};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What a controller says of a room's line. All that it says is kept, for who wants JSON.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct Status {
    /// Its name.
    pub(super) room: String,
    /// What it does.
    pub(super) state: String,
    /// The method in force.
    pub(super) queueing_method: String,
    /// The event in force.
    pub(super) event: Option<String>,
    /// Who waits, and is still there.
    pub(super) waiting: u64,
    /// Who is inside.
    pub(super) active_users: u64,
    /// The ceiling in force.
    pub(super) total_active_users: Option<u64>,
    /// Who entered within a minute.
    pub(super) admitted_last_minute: u64,
    /// The most who may.
    pub(super) new_users_per_minute: Option<u64>,
    /// How long a newcomer would wait.
    pub(super) wait_seconds: Option<u64>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

const HEADER: [&str; 8] =
    ["ROOM", "METHOD", "QUEUEING", "WAITING", "INSIDE", "PER MINUTE", "WAIT", "STATE"];
/// Columns of numbers.
const NUMBERS: std::ops::RangeInclusive<usize> = 3..=6;

/// A column besides: its heading, and what it has for a room.
pub(super) type Column<'a> = (&'a str, &'a dyn Fn(&Status) -> String);

/// The rooms, and beside each what `more` has for it.
pub(super) fn table<'a>(
    rooms: impl IntoIterator<Item = &'a Status>,
    more: Option<Column<'_>>,
) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let title = more.map(|(title, _)| title.to_owned());
    table.set_header(Row::from(
        HEADER.map(str::to_owned).into_iter().chain(title).collect::<Vec<_>>(),
    ));
    for room in rooms {
        let cells = room.cells().into_iter().chain(more.map(|(_, cell)| cell(room)));
        table.add_row(Row::from(cells.collect::<Vec<_>>()));
    }
    for column in NUMBERS {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

// === impl Status ===

impl Status {
    /// One line for programs and logs.
    pub(super) fn line(&self) -> String {
        let [room, method, queueing, waiting, inside, minute, wait, state] = self.cells();
        format!(
            "{room} method={method} queueing={queueing} waiting={waiting} inside={inside} per_minute={minute} \
             wait={wait} state={state}"
        )
    }

    /// What it does, in the words of the API.
    pub(super) fn doing(&self) -> String {
        match (self.state.as_str(), &self.event) {
            ("queue_all", _) => "queue_all (paused)".to_owned(),
            (state, Some(event)) => format!("{state} ({event})"),
            (state, None) => state.to_owned(),
        }
    }

    fn cells(&self) -> [String; 8] {
        let queueing = self.others.get("queueing").and_then(Value::as_bool).unwrap_or_default();
        [
            self.room.clone(),
            self.queueing_method.clone(),
            if queueing { "yes" } else { "no" }.to_owned(),
            self.waiting.to_string(),
            of(self.active_users, self.total_active_users),
            of(self.admitted_last_minute, self.new_users_per_minute),
            self.wait_seconds.map_or_else(|| "?".to_owned(), duration),
            self.doing(),
        ]
    }
}

/// So many of at most so many.
fn of(count: u64, most: Option<u64>) -> String {
    most.map_or_else(|| count.to_string(), |most| format!("{count}/{most}"))
}

/// Whole seconds, minutes or hours.
fn duration(seconds: u64) -> String {
    match seconds {
        0..=119 => format!("{seconds}s"),
        120..=7_199 => format!("{}m", seconds / 60),
        _ => format!("{}h{:02}m", seconds / 3_600, seconds % 3_600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn status() -> Status {
        serde_json::from_value(json!({
            "room": "sale", "state": "queueing", "queueing_method": "fifo", "queueing": true, "waiting": 1200,
            "active_users": 50, "total_active_users": 50, "admitted_last_minute": 7, "wait_seconds": 7300,
            "queue_counter": 9,
        }))
        .unwrap()
    }

    #[test]
    fn a_room_is_a_line_of_figures() {
        let paused = Status {
            room: "a-long-name".into(),
            state: "queue_all".into(),
            queueing_method: "random".into(),
            ..Status::default()
        };
        let text = table([&status(), &paused], None);
        let lines: Vec<_> = text.lines().map(str::trim).collect();
        assert_eq!(lines.len(), 3, "{text}");
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(words(lines[1]), "sale fifo yes 1200 50/50 7 2h01m queueing");
        assert_eq!(words(lines[2]), "a-long-name random no 0 0 0 ? queue_all (paused)");
        let beside = table([&status()], Some(("LATELY", &|room| room.waiting.to_string())));
        assert!(beside.contains("LATELY") && beside.trim_end().ends_with("1200"), "{beside}");
        assert_eq!(
            status().line(),
            "sale method=fifo queueing=yes waiting=1200 inside=50/50 per_minute=7 wait=2h01m state=queueing"
        );
    }

    #[test]
    fn all_that_was_told_is_kept() {
        assert_eq!(serde_json::to_value(status()).unwrap()["queue_counter"], 9);
    }
}

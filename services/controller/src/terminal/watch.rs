//! `room watch`: a table that is painted anew every second, or lines where nobody could see it painted.

use std::{
    collections::{BTreeMap, VecDeque},
    io::{self, IsTerminal, Write},
    time::Duration,
};

use clap::Args;
use serde_json::json;
use terminal_size::{Height, terminal_size};
use tokio::{
    select, signal,
    signal::unix::{SignalKind, signal},
    time::{MissedTickBehavior, interval},
};
use vestibule_domain::RoomId;

use super::{
    ConnectOptions,
    client::ControllerClient,
    error::TerminalError,
    figures::{all, status},
    sparkline::sparkline,
    table::{Status, table},
};

/// How often rooms are looked at.
const PERIOD: Duration = Duration::from_secs(1);
/// How many looks a room's line of bars has.
const LATELY: usize = 30;
/// Another screen, so that what stood on the terminal is there again afterwards, no cursor, and lines that end at its edge:
/// those that went on below would push the first ones out.
const BEGIN: &str = "\x1b[?1049h\x1b[?25l\x1b[?7l";
const END: &str = "\x1b[?7h\x1b[?25h\x1b[?1049l";
/// To the first line; the rest of a line, and of the screen, is cleared.
const HOME: &str = "\x1b[H";
const CLEAR_LINE: &str = "\x1b[K\n";
const CLEAR_REST: &str = "\x1b[J";
/// Lines beside the rooms: two above them and one below.
const FRAME: usize = 3;

/// What is watched.
#[derive(Debug, Clone, Args)]
pub struct WatchOptions {
    /// The room; all that the token is for, if none is named.
    #[arg(value_name = "ROOM")]
    pub room: Option<RoomId>,

    /// Look so many times, and end.
    #[arg(long, value_name = "TIMES", value_parser = clap::value_parser!(u64).range(1..))]
    pub count: Option<u64>,

    /// Write a line of JSON every second.
    #[arg(long)]
    pub json: bool,

    /// Which controller.
    #[command(flatten)]
    pub connect: ConnectOptions,
}

/// How many waited in each room lately.
#[derive(Debug, Default)]
struct Lately(BTreeMap<String, VecDeque<u64>>);

/// A terminal that is painted on; it is as before when this is gone.
struct Screen(io::Stdout);

/// Watches until it is stopped, or has looked often enough.
///
/// # Errors
/// [`TerminalError`]: of the first look, or of any where lines are written; on a screen a later one is shown there.
pub(super) async fn watch(
    client: &ControllerClient,
    options: &WatchOptions,
) -> Result<(), TerminalError> {
    let mut terminate = signal(SignalKind::terminate())?;
    let stopped = async {
        select! {
            biased;
            _ = signal::ctrl_c() => {},
            _ = terminate.recv() => {},
        }
    };
    let paints = io::stdout().is_terminal() && !options.json;
    select! {
        biased;
        () = stopped => Ok(()),
        done = look_again(client, options, paints) => done,
    }
}

async fn look_again(
    client: &ControllerClient,
    options: &WatchOptions,
    paints: bool,
) -> Result<(), TerminalError> {
    let (mut lately, mut screen, mut looks) = (Lately::default(), None, 0);
    let mut rooms = look(client, options).await?;
    let mut seconds = interval(PERIOD);
    seconds.set_missed_tick_behavior(MissedTickBehavior::Delay);
    seconds.tick().await;
    let mut trouble = None;
    loop {
        lately.take_in(&rooms);
        if paints {
            screen.get_or_insert_with(Screen::begin).paint(&rooms, &lately, trouble.as_ref())?;
        } else {
            write_lines(&rooms, options.json)?;
        }
        looks += 1;
        if options.count == Some(looks) {
            return Ok(());
        }
        seconds.tick().await;
        match look(client, options).await {
            Ok(told) => (rooms, trouble) = (told, None),
            Err(error) if paints => trouble = Some(error),
            Err(error) => return Err(error),
        }
    }
}

async fn look(
    client: &ControllerClient,
    options: &WatchOptions,
) -> Result<Vec<Status>, TerminalError> {
    match &options.room {
        Some(room) => Ok(vec![status(client, room.as_str()).await?]),
        None => all(client).await,
    }
}

fn write_lines(rooms: &[Status], json: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if json {
        writeln!(out, "{}", json!({ "rooms": rooms }))?;
    } else {
        for room in rooms {
            writeln!(out, "{}", room.line())?;
        }
    }
    out.flush()
}

/// What is painted on a screen of so many lines: the rooms with the longest lines, if not all fit.
fn frame(
    rooms: &[Status],
    lately: &Lately,
    trouble: Option<&TerminalError>,
    height: usize,
) -> String {
    let fit = height.saturating_sub(FRAME).max(1);
    let mut shown: Vec<_> = rooms.iter().collect();
    if shown.len() > fit {
        shown.sort_by_key(|room| std::cmp::Reverse(room.waiting));
        shown.truncate(fit);
    }
    let left_out = rooms.len() - shown.len();
    let bars = |room: &Status| lately.bars(&room.room);
    let mut text = match trouble {
        Some(error) => {
            let said = error.to_string();
            format!("What was last known: {}\n\n", said.lines().next().unwrap_or_default())
        }
        None => "Every second; Ctrl-C ends it\n\n".to_owned(),
    };
    text += &table(shown, Some(("WAITING LATELY", &bars)));
    let more = match left_out {
        0 => String::new(),
        count => format!("… and {count} more, with shorter lines\n"),
    };
    text + &more
}

// === impl Lately ===

impl Lately {
    fn take_in(&mut self, rooms: &[Status]) {
        self.0.retain(|name, _| rooms.iter().any(|room| room.room == *name));
        for room in rooms {
            let numbers = self.0.entry(room.room.clone()).or_default();
            numbers.push_back(room.waiting);
            if numbers.len() > LATELY {
                numbers.pop_front();
            }
        }
    }

    fn bars(&self, room: &str) -> String {
        self.0.get(room).map(|numbers| sparkline(numbers.iter().copied())).unwrap_or_default()
    }
}

// === impl Screen ===

impl Screen {
    fn begin() -> Self {
        let screen = Self(io::stdout());
        // What cannot be written here cannot be painted either, which is told then.
        let _ = screen.0.lock().write_all(BEGIN.as_bytes());
        screen
    }

    fn paint(
        &self,
        rooms: &[Status],
        lately: &Lately,
        trouble: Option<&TerminalError>,
    ) -> io::Result<()> {
        let height = terminal_size().map_or(24, |(_, Height(lines))| usize::from(lines));
        let text = frame(rooms, lately, trouble, height).replace('\n', CLEAR_LINE);
        let mut out = self.0.lock();
        write!(out, "{HOME}{text}{CLEAR_REST}")?;
        out.flush()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let mut out = self.0.lock();
        let _ = out.write_all(END.as_bytes());
        let _ = out.flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(name: &str, waiting: u64) -> Status {
        let mut status = Status::default();
        (status.room, status.waiting) = (name.into(), waiting);
        status
    }

    #[test]
    fn the_longest_lines_are_shown_if_not_all_fit() {
        let rooms = [room("a", 1), room("b", 3), room("c", 2)];
        let mut lately = Lately::default();
        lately.take_in(&rooms);
        let all = frame(&rooms, &lately, None, 24);
        assert_eq!(all.lines().count(), 6, "{all}");
        let some = frame(&rooms, &lately, None, 5);
        assert!(some.contains("and 1 more") && !some.contains("\n a "), "{some}");
        let trouble = TerminalError::WrongToken { url: "http://x".into() };
        assert!(frame(&rooms, &lately, Some(&trouble), 24).starts_with("What was last known: "));
    }

    #[test]
    fn a_room_is_remembered_for_as_long_as_there_is_one() {
        let mut lately = Lately::default();
        for waiting in 0..40 {
            lately.take_in(&[room("a", waiting)]);
        }
        assert_eq!(lately.bars("a").chars().count(), LATELY);
        lately.take_in(&[]);
        assert_eq!(lately.bars("a"), "");
    }
}

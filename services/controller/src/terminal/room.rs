//! `room`: lists rooms, shows one, pauses and resumes it. Watching them is in [`super::watch`].

use std::{
    io::{self, Write},
    process::ExitCode,
};

use clap::{Args, Subcommand};
use hyper::{Method, body::Bytes};
use serde_json::{Value, json};
use vestibule_domain::RoomId;

use super::{
    ConnectOptions, WatchOptions,
    client::ControllerClient,
    error::TerminalError,
    figures::{all, status},
    table::{Status, table},
    watch,
};

/// What is done with rooms.
#[derive(Debug, Clone, Subcommand)]
pub enum RoomCommand {
    /// List the rooms that the token is for, with their figures.
    List(ListOptions),
    /// Show how a room stands, and what is set for it.
    Show(RoomOptions),
    /// Let nobody in any more: everybody who comes waits, and keeps the place.
    ///
    /// Who is inside stays inside. It is the setting `queue_all`, until `resume`, or until a document is applied that
    /// does not have it. It is not `suspended`, which turns the room off and lets everybody in.
    Pause(RoomOptions),
    /// Let people in again, as far as the room's limits allow.
    Resume(RoomOptions),
    /// Watch rooms: a table that is painted anew every second, until Ctrl-C.
    ///
    /// If the output is not a terminal: a line for each room every second.
    Watch(WatchOptions),
}

/// Which rooms are listed.
#[derive(Debug, Clone, Args)]
pub struct ListOptions {
    /// Write JSON.
    #[arg(long)]
    pub json: bool,

    /// Which controller.
    #[command(flatten)]
    pub connect: ConnectOptions,
}

/// Which room.
#[derive(Debug, Clone, Args)]
pub struct RoomOptions {
    /// The room.
    #[arg(value_name = "ROOM")]
    pub room: RoomId,

    /// Write JSON.
    #[arg(long)]
    pub json: bool,

    /// Which controller.
    #[command(flatten)]
    pub connect: ConnectOptions,
}

// === impl RoomCommand ===

impl RoomCommand {
    /// Which controller is asked.
    pub(super) fn connect(&self) -> &ConnectOptions {
        match self {
            Self::List(options) => &options.connect,
            Self::Show(options) | Self::Pause(options) | Self::Resume(options) => &options.connect,
            Self::Watch(options) => &options.connect,
        }
    }
}

/// Does what the command says.
///
/// # Errors
/// [`TerminalError`].
pub(super) async fn run(
    client: &ControllerClient,
    command: &RoomCommand,
) -> Result<ExitCode, TerminalError> {
    match command {
        RoomCommand::List(options) => list(client, options).await?,
        RoomCommand::Show(options) => show(client, options).await?,
        RoomCommand::Pause(options) => hold(client, options, true).await?,
        RoomCommand::Resume(options) => hold(client, options, false).await?,
        RoomCommand::Watch(options) => watch::watch(client, options).await?,
    }
    Ok(ExitCode::SUCCESS)
}

async fn list(client: &ControllerClient, options: &ListOptions) -> Result<(), TerminalError> {
    let rooms = all(client).await?;
    if options.json {
        return print_json(&json!({ "rooms": rooms }));
    }
    let text =
        if rooms.is_empty() { "There are no rooms.\n".to_owned() } else { table(&rooms, None) };
    Ok(io::stdout().lock().write_all(text.as_bytes())?)
}

async fn show(client: &ControllerClient, options: &RoomOptions) -> Result<(), TerminalError> {
    let room = options.room.as_str();
    let status = status(client, room).await?;
    let path = format!("/v1/config?rooms={room}");
    if options.json {
        let document: Value = client.get(&path).await?;
        return print_json(&json!({ "status": status, "config": document["rooms"][room] }));
    }
    let document = client.call(Method::GET, &path, "application/yaml", Bytes::new()).await?;
    let mut out = io::stdout().lock();
    write!(out, "{}\n# What differs from the defaults:\n", table([&status], None))?;
    Ok(out.write_all(&document.body)?)
}

/// Pauses a room, or lets it go on.
async fn hold(
    client: &ControllerClient,
    options: &RoomOptions,
    queue_all: bool,
) -> Result<(), TerminalError> {
    let room = options.room.as_str();
    let body = Bytes::from(json!({ "queue_all": queue_all }).to_string());
    let path = format!("/v1/rooms/{room}");
    let answer = client.call(Method::PATCH, &path, "application/json", body).await;
    let answer = answer.map_err(|error| error.of_room(room))?;
    let status = status(client, room).await?;
    if options.json {
        print_json(&json!(status))?;
    } else {
        writeln!(io::stdout().lock(), "{}", held(&status, queue_all))?;
    }
    if let Some(behind) = answer.behind {
        eprintln!("warning: {behind}");
    }
    if status.state == "suspended" {
        eprintln!("warning: {room} is suspended, so everybody enters, whatever else is set");
    }
    Ok(())
}

fn held(status: &Status, queue_all: bool) -> String {
    let Status { room, waiting, active_users, .. } = status;
    let people = format!("{waiting} waiting, {active_users} inside");
    if queue_all {
        format!("{room} is paused: nobody is let in, and whoever waits keeps the place ({people})")
    } else {
        format!("{room} goes on: people are let in as its limits allow ({people})")
    }
}

fn print_json(value: &Value) -> Result<(), TerminalError> {
    Ok(writeln!(io::stdout().lock(), "{value:#}")?)
}

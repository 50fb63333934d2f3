//! The generated beginning of every script: its name, how it pushes, and the names of its keys, arguments and replies,
//! so that scripts use names instead of positions.

use std::fmt::Write;

use crate::{keys::CHANNELS, positional::Positions};

use super::Access;

const PUSH: &str = include_str!("lib/push.lua");

/// The prelude of the script `name`. It defines `SCRIPT`, `push`, `keys`, for a room's script `ACCESS`, and what
/// [`of_positions`] says. `sharded`: it pushes on the room's own channel, see `lib/push.lua`.
pub(super) fn prelude(
    name: &str,
    access: Access,
    sharded: bool,
    names: &[&str],
    positions: Option<&Positions>,
) -> String {
    let (count, compare) = match names.last() {
        Some(last) if last.ends_with('…') => (names.len() - 1, ">="),
        _ => (names.len(), "=="),
    };
    let channels = CHANNELS.map(|(kind, channel)| format!("{kind} = '{channel}'")).join(", ");
    // A script may have 200 local names: what only `push` needs is seen by nobody else.
    let mut lua = format!(
        "local SCRIPT = '{name}'\n\
         local push\n\
         do\n\
         local CHANNELS, SHARDED = {{ {channels} }}, {sharded}\n\
         {PUSH}\
         end\n\
         assert(#KEYS {compare} {count}, '{name}: wrong number of keys')\n"
    );
    let _ = writeln!(lua, "local keys = {{ {} }}", named(&names[..count], "KEYS", ""));
    if let Some(positions) = positions {
        lua.push_str(&of_positions(name, positions));
    } else {
        let count = if access == Access::Deployment { 2 } else { 3 };
        let _ = writeln!(lua, "assert(#ARGV == {count}, '{name}: wrong number of arguments')");
    }
    let word = match access {
        Access::Deployment => return lua,
        Access::Reads => "reads",
        Access::Writes => "writes",
        Access::Copies => "copies",
        Access::Repairs => "repairs",
    };
    let _ = writeln!(lua, "local ACCESS = '{word}'");
    lua
}

/// For arguments and replies in a fixed order: `args`, those of the call; `item_at(i)`, those of
/// the item that begins at ARGV `i`, which are at `FIRST_ITEM` and every `ITEM_SIZE` after it;
/// `reply` and `reply_item`, which put the fields of a table in order.
fn of_positions(name: &str, positions: &Positions) -> String {
    let Positions { call, item, reply, reply_item } = positions;
    let call = [&["now_ms", "seen"], *call].concat();
    let (calls, size) = (call.len(), item.len());
    let check = match size {
        0 => format!("#ARGV == {calls}"),
        _ => format!("#ARGV >= {calls} and (#ARGV - {calls}) % {size} == 0"),
    };
    format!(
        "assert({check}, '{name}: wrong number of arguments')\n\
         local args = {{ {} }}\n\
         local FIRST_ITEM, ITEM_SIZE = {}, {size}\n\
         local function item_at(i) return {{ {} }} end\n\
         local function reply(r) return {{ {} }} end\n\
         local function reply_item(r) return {{ {} }} end\n",
        named(&call, "ARGV", ""),
        calls + 1,
        named(item, "ARGV", "i - 1 + "),
        in_order(reply),
        in_order(reply_item),
    )
}

/// `now_ms = ARGV[1], …`
fn named(names: &[&str], list: &str, offset: &str) -> String {
    let field = |(i, name): (usize, &&str)| format!("{name} = {list}[{offset}{}]", i + 1);
    names.iter().enumerate().map(field).collect::<Vec<_>>().join(", ")
}

/// `r.now_ms or false, …`: Redis ends a list at the first nil, and sends `false` as nil.
fn in_order(names: &[&str]) -> String {
    names.iter().map(|name| format!("r.{name} or false")).collect::<Vec<_>>().join(", ")
}

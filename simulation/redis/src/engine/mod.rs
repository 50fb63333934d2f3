//! Runs scripts: embedded Lua 5.1 in the sandbox of Redis.

mod bits;
mod call;
mod cjson;
mod convert;
mod raised;
mod redis_call;
mod sandbox;
mod scripts;

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use mlua::{Function, Lua, Table, Value};
use rustc_hash::FxHashMap;

pub(crate) use call::Call;
pub(crate) use scripts::Scripts;
use scripts::{Script, Sha};

use crate::{
    core::Core,
    failure::{Failure, Outcome},
};
use redis_call::Running;

/// Runs the scripts of servers. It compiles each script once, whichever server it is for. Clones share
/// what they have compiled, and run one script at a time.
#[derive(Clone)]
pub struct Engine(Arc<Inner>);

struct Inner {
    lua: Lua,
    /// The sandbox's function that runs a compiled script.
    runner: Function,
    /// The functions of compiled scripts. They are a table of Lua, because mlua can hold only some
    /// thousand values.
    functions: Table,
    running: Arc<Mutex<Running>>,
    /// Held while a script runs: the calls of its commands lock `running` one by one.
    one_at_a_time: Mutex<()>,
    compiled: Mutex<Compiled>,
    /// What every script has in the place of what, by mistake.
    defect: Option<(String, String)>,
}

#[derive(Default)]
struct Compiled {
    /// Where each is in the table of functions.
    places: FxHashMap<Sha, usize>,
    names: FxHashMap<Arc<[u8]>, Sha>,
}

// === impl Engine ===

impl Default for Engine {
    fn default() -> Self {
        Self::new()
    }
}

impl Engine {
    /// An engine that has compiled nothing yet.
    ///
    /// # Panics
    /// If there is no memory for a Lua state.
    #[must_use]
    pub fn new() -> Self {
        Self::make(None)
    }

    /// An engine whose scripts have a defect: wherever one says `instead_of`, it does `does`. They are
    /// called by the SHA of what they should be. For tests of those who should notice.
    #[must_use]
    pub fn with_defect(instead_of: &str, does: &str) -> Self {
        Self::make(Some((instead_of.to_owned(), does.to_owned())))
    }

    fn make(defect: Option<(String, String)>) -> Self {
        let running = Arc::default();
        let lua = sandbox::lua().expect("there is memory for a Lua state");
        let functions = lua.create_table().expect("there is memory for a table");
        let runner = sandbox::build(&lua, &running, &functions).expect("the sandbox is valid Lua");
        Self(Arc::new(Inner {
            lua,
            runner,
            functions,
            running,
            one_at_a_time: Mutex::default(),
            compiled: Mutex::default(),
            defect,
        }))
    }

    /// What a script is called, and its text kept once for all servers.
    fn name(&self, text: &[u8]) -> (Sha, Arc<[u8]>) {
        let mut compiled = lock(&self.0.compiled);
        if let Some((text, sha)) = compiled.names.get_key_value(text) {
            return (*sha, Arc::clone(text));
        }
        let (sha, text): (_, Arc<[u8]>) = (Sha::of(text), text.into());
        compiled.names.insert(Arc::clone(&text), sha);
        (sha, text)
    }

    /// Where a script's function is; compiles it if it is new.
    fn place(&self, script: &Script) -> Result<usize, Failure> {
        let mut compiled = lock(&self.0.compiled);
        if let Some(place) = compiled.places.get(&script.sha) {
            return Ok(*place);
        }
        let function = match &self.0.defect {
            None => sandbox::compile(&self.0.lua, &script.text)?,
            Some((instead_of, does)) => {
                let text = String::from_utf8_lossy(&script.text).replace(instead_of, does);
                sandbox::compile(&self.0.lua, text.as_bytes())?
            }
        };
        let place = compiled.places.len() + 1;
        self.0.functions.raw_seti(place, function).map_err(|error| broken(&error))?;
        compiled.places.insert(script.sha, place);
        Ok(place)
    }

    /// Runs a script on `core`.
    pub(crate) fn run(&self, core: &mut Box<Core>, script: &Script, call: &Call) -> Outcome {
        let place = self.place(script)?;
        let _turn = lock(&self.0.one_at_a_time);
        lock(&self.0.running).begin(core, call);
        let result = self.call_lua(place, call);
        lock(&self.0.running).end(core);
        let (succeeded, value) = result.map_err(|error| Failure(format!("ERR {error}").into()))?;
        if succeeded {
            convert::reply(&value, core.options.dialect)
        } else {
            Err(raised::final_failure(&value, script.sha, core.options.dialect))
        }
    }

    fn call_lua(&self, place: usize, call: &Call) -> mlua::Result<(bool, Value)> {
        let lua = &self.0.lua;
        let texts = |texts: &[&[u8]]| -> mlua::Result<Table> {
            lua.create_sequence_from(texts.iter().map(|text| convert::text(text)))
        };
        self.0.runner.call((place, texts(call.keys)?, texts(call.args)?))
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Engine")
    }
}

/// What Lua itself cannot do, such as get more memory.
fn broken(error: &mlua::Error) -> Failure {
    Failure(format!("ERR {error}").into())
}

/// A panic while it was locked has left nothing half done that matters.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

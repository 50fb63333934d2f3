//! One server: its data, its scripts, and whether it refuses.

use std::{collections::BTreeMap, fmt::Write, sync::Arc};

use crate::{
    Micros,
    commands::{self, Args, Command, Run},
    core::Core,
    engine::{Call, Engine, Scripts},
    failure::{Failure, Outcome},
    keyspace::Keyspace,
    options::Options,
    random::Random,
    refusal::Refusal,
    reply::{Message, Reply},
};

/// All that a server holds at some moment: its keys, the scripts that it knows, and what chance its
/// scripts have next. Cloning is cheap.
#[derive(Debug, Clone, Default)]
pub struct State {
    keyspace: Arc<Keyspace>,
    scripts: Arc<Scripts>,
    random: Random,
}

/// One server.
#[derive(Debug)]
pub struct Server {
    /// Boxed, because a script's calls borrow it from here.
    core: Box<Core>,
    scripts: Arc<Scripts>,
    engine: Engine,
}

// === impl State ===

impl State {
    /// Its keys.
    #[must_use]
    pub fn keyspace(&self) -> &Keyspace {
        &self.keyspace
    }
}

// === impl Server ===

/// Calls.
impl Server {
    /// An empty server. Engines are cheap to clone; servers of one simulation share one.
    #[must_use]
    pub fn new(engine: Engine, options: Options) -> Self {
        let mut core: Box<Core> = Box::default();
        core.options = options;
        Self { core, scripts: Arc::default(), engine }
    }

    /// Answers one command, which takes place at `now` by the server's clock.
    pub fn call(&mut self, now: Micros, command: &[&[u8]]) -> Reply {
        self.core.set_time(now);
        let Some((name, args)) = command.split_first() else {
            return Failure::new("ERR Protocol error: no command").into();
        };
        self.run(name, args).unwrap_or_else(Reply::from)
    }

    fn run(&mut self, name: &[u8], args: Args) -> Outcome {
        let command = commands::find(name).ok_or_else(|| unknown(name, args))?;
        if !command.takes(args.len(), self.core.options.dialect) {
            return Err(Failure::wrong_arity(command.name));
        }
        if let Some(failure) = self.refuses(command) {
            return Err(failure);
        }
        match command.run {
            Run::Plain(run) => run(&mut self.core, args),
            Run::Eval { by_sha, read_only } => self.eval(args, by_sha, read_only),
            Run::Script => Scripts::command(&mut self.scripts, &self.engine, args),
        }
    }

    fn refuses(&self, command: &Command) -> Option<Failure> {
        self.core.refusal.as_ref()?.check(command.name, command.flags)
    }

    fn eval(&mut self, args: Args, by_sha: bool, read_only: bool) -> Outcome {
        let call = Call::read(args, read_only)?;
        let script = if by_sha {
            self.scripts.find(args[0], self.core.options.dialect)?
        } else {
            Scripts::load(&mut self.scripts, &self.engine, args[0])?
        };
        self.engine.run(&mut self.core, script, &call)
    }

    /// What was published since this was asked last.
    pub fn take_messages(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.core.messages)
    }
}

/// What happens to servers.
impl Server {
    /// All that it holds now.
    #[must_use]
    pub fn snapshot(&self) -> State {
        State {
            keyspace: self.core.share(),
            scripts: Arc::clone(&self.scripts),
            random: self.core.random,
        }
    }

    /// Goes back, or over, to a state: of its own past, or of another server. The scripts that it knew
    /// then are known again.
    pub fn restore(&mut self, state: State) {
        self.core.replace(state.keyspace);
        self.scripts = state.scripts;
        self.core.random = state.random;
    }

    /// Loses every key.
    pub fn wipe(&mut self) {
        self.core.replace(Arc::default());
    }

    /// Loses one key; returns whether it was there.
    pub fn lose_key(&mut self, key: impl AsRef<[u8]>) -> bool {
        self.core.remove(key.as_ref())
    }

    /// Becomes another process with the same data: the scripts are forgotten, what was published and
    /// not taken is gone.
    pub fn restart(&mut self, run_id: &str) {
        self.scripts = Arc::default();
        self.core.messages.clear();
        self.core.random = Random::default();
        run_id.clone_into(&mut self.core.options.run_id);
    }

    /// From now on, answers what the error stops with this error, such as `READONLY …`; `None`: with
    /// nothing. LOADING, BUSY, MASTERDOWN and CLUSTERDOWN stop nearly everything; OOM what may take
    /// memory; MISCONF writes and PING; any other writes, inside scripts too.
    pub fn refuse(&mut self, error: Option<&str>) {
        self.core.refusal = error.map(Refusal::new);
    }

    /// Says how many subscribe to a channel, which is what PUBLISH answers.
    pub fn set_subscribers(&mut self, channel: impl AsRef<[u8]>, count: i64) {
        let all: &mut BTreeMap<_, _> = &mut self.core.subscribers;
        all.insert(channel.as_ref().to_vec(), count);
    }

    /// What it was told about itself, to be changed.
    pub fn options_mut(&mut self) -> &mut Options {
        &mut self.core.options
    }

    /// What it was told about itself.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.core.options
    }

    /// What it holds. A key that expired since the last call is still there: see [`Self::expire`].
    #[must_use]
    pub fn keyspace(&self) -> &Keyspace {
        self.core.keyspace()
    }

    /// Removes what has expired by `now`, as a call at that time would.
    pub fn expire(&mut self, now: Micros) {
        self.core.set_time(now);
    }

    /// The engine that runs its scripts.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }
}

fn unknown(name: &[u8], args: Args) -> Failure {
    let name = String::from_utf8_lossy(name);
    let mut shown = String::new();
    for arg in args {
        if shown.len() >= 128 {
            break;
        }
        let _ = write!(shown, "'{}' ", String::from_utf8_lossy(arg));
    }
    Failure(format!("ERR unknown command '{name}', with args beginning with: {shown}").into())
}

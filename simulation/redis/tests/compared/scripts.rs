//! Random scripts: values of every kind both ways, errors and who catches them, cjson, the libraries.

use crate::{
    against_both_servers,
    comparison::Comparison,
    expressions::Expressions,
    link::Command,
    templates::{KEYS, Words},
};

const PROGRAMS: u64 = 40;
const STEPS: usize = 60;

/// Catches errors, and shows them.
const TRY: &str = "local function try(f, ...)
  local result = { pcall(f, ...) }
  return { tostring(result[1]), result[2], type(result[2]), #result }
end
";

fn eval(name: &str, script: &str) -> Command {
    let mut command: Vec<Vec<u8>> = vec![name.into(), script.into()];
    command.push(KEYS.len().to_string().into());
    command.extend(KEYS.iter().map(|key| key.as_bytes().to_vec()));
    command.extend(["a", "7", "0.1", "", "x\0y"].map(|arg| arg.as_bytes().to_vec()));
    command
}

fn compare(mut with: Comparison, name: &str, script: fn(&mut Expressions) -> String) {
    let now = with.now_seconds();
    for seed in 0..PROGRAMS {
        let mut expressions = Expressions::new(Words::new(seed, now));
        let step = |_| {
            let how = if expressions.once_in(12) { "EVAL_RO" } else { "EVAL" };
            eval(how, &format!("{TRY}{}", script(&mut expressions)))
        };
        let program: Vec<Command> = (0..STEPS).map(step).collect();
        with.run(&format!("{name}, seed {seed}"), &program);
    }
}

against_both_servers!(values, commands, json, errors, known_scripts);

/// What a script returns.
fn values(with: Comparison) {
    compare(with, "values", |expressions| format!("return {}", expressions.value(3)));
}

/// What commands return to a script, and what a script gives them.
fn commands(with: Comparison) {
    compare(with, "commands", |expressions| {
        let step = |step| format!("r{step} = {}", expressions.command());
        let steps: Vec<String> = (1..=3).map(step).collect();
        let last = expressions.command();
        format!("local r1, r2, r3\n{}\nreturn {{ {last}, r1, r2, type(r3) }}", steps.join("\n"))
    });
}

/// JSON both ways.
fn json(with: Comparison) {
    compare(with, "json", |expressions| format!("return {}", expressions.json()));
}

/// Errors that nobody catches.
fn errors(with: Comparison) {
    compare(with, "errors", |expressions| {
        let (before, raised) = (expressions.command(), expressions.error());
        format!("local before = {before}\n{raised}\nreturn before")
    });
}

/// Scripts by their SHA, forgotten scripts, and the limits of what scripts may do.
fn known_scripts(mut with: Comparison) {
    let sha = "e0e1f9fabfc9d4800c877a703b823ac0578ff8db";
    let program: Vec<Command> = [
        &["SCRIPT", "EXISTS", sha][..],
        &["EVALSHA", sha, "0"],
        &["SCRIPT", "LOAD", "return 1"],
        &["SCRIPT", "EXISTS", sha, "x"],
        &["EVALSHA", sha, "0"],
        &["EVALSHA", &sha.to_uppercase(), "0"],
        &["EVALSHA_RO", sha, "0"],
        &["EVAL_RO", "return redis.call('set', KEYS[1], 1)", "1", "s1"],
        &["EVAL_RO", "return redis.call('publish', 'a', 'b')", "0"],
        &["SCRIPT", "FLUSH"],
        &["EVALSHA", sha, "0"],
        &["SCRIPT", "LOAD", "return"],
        &["SCRIPT", "LOAD", "return ("],
        &["EVAL", "return ((", "0"],
        &["EVAL", "#!lua flags=no-writes\nreturn 1", "0"],
        &["EVAL", "return redis.call('eval', 'return 1', 0)", "0"],
        &["EVAL", "return redis.call('script', 'flush')", "0"],
        &["EVAL", "return redis.call('ping')", "0"],
        &["EVAL", "return #redis.call('time')", "0"],
        &["EVAL", "return redis.call('info', 'replication'):match('role:(%a+)')", "0"],
        &["EVAL", "return redis.call('info', 'server'):match('redis_version:(%S+)')", "0"],
        &["EVAL", "return redis.call('info'):match('maxmemory_policy:(%S+)')", "0"],
        &["EVAL", "return #redis.call('info', 'server'):match('run_id:(%S+)')", "0"],
        &["CONFIG", "GET", "maxmemory-policy"],
    ]
    .map(|words| words.iter().map(|word| word.as_bytes().to_vec()).collect())
    .to_vec();
    with.run("known scripts", &program);
}

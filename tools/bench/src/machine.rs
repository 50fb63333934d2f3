//! The machine of the measurements, and the processor time of processes. Figures that the system
//! does not provide (anywhere but on Linux) are left out.

use std::{fs, time::Duration};

use serde::Serialize;

/// Ticks per second in `/proc`; the same on all platforms of Rust on Linux.
const TICKS_PER_SECOND: u64 = 100;

/// The machine of the measurements.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Machine {
    /// Processors that this process may use.
    pub(crate) cores: usize,
    /// Their name.
    pub(crate) processor: Option<String>,
    /// The load average over a minute before the run. Well above 0, the machine was not idle.
    pub(crate) load_before: Option<f64>,
    /// Redis's version.
    pub(crate) redis: String,
}

// === impl Machine ===

impl Machine {
    /// This machine, with the Redis of this version.
    pub(crate) fn current(redis: String) -> Self {
        Self { cores: cores(), processor: processor(), load_before: load(), redis }
    }
}

/// Processors that this process may use.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// The processor time that the process `id` has used so far, in user and kernel mode.
pub(crate) fn processor_time(id: u32) -> Option<Duration> {
    ticks(&fs::read_to_string(format!("/proc/{id}/stat")).ok()?)
        .map(|ticks| Duration::from_millis(ticks * 1_000 / TICKS_PER_SECOND))
}

/// User and system time of a `/proc/…/stat` line: fields 14 and 15. The second field, the name of
/// the program, may contain blanks.
fn ticks(stat: &str) -> Option<u64> {
    let after_name = stat.get(stat.rfind(')')? + 1..)?;
    let mut fields = after_name.split_ascii_whitespace().skip(11);
    let mut next = || fields.next()?.parse::<u64>().ok();
    Some(next()? + next()?)
}

fn processor() -> Option<String> {
    let about = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = about.lines().find(|line| line.starts_with("model name"))?;
    line.split_once(':').map(|(_, name)| name.trim().to_owned())
}

fn load() -> Option<f64> {
    fs::read_to_string("/proc/loadavg").ok()?.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_may_have_blanks_and_brackets_in_its_name() {
        let stat = "42 (a) b) S 1 42 42 0 -1 4194560 500 0 0 0 120 30 0 0 20 0 3 0 900 0 0";
        assert_eq!(ticks(stat), Some(150));
        assert_eq!(ticks("42 (a"), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_process_has_used_some_time() {
        let before = processor_time(std::process::id()).unwrap();
        let mut sum = 0_u64;
        while processor_time(std::process::id()).unwrap() == before {
            sum = std::hint::black_box(sum + 1);
        }
        assert!(sum > 0);
    }
}

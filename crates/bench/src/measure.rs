//! One program, measured by the system: `policert bench measure`. A study runs each of its programs
//! through it, so that what a run used is known also of programs that say nothing themselves, and so
//! that nothing of a run is left when the study ends.

use std::ffi::OsString;
use std::io::{self, Read as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::{Signal, killpg};
use nix::sys::time::TimeVal;
use nix::unistd::Pid;
use policert_outcome::{Failure, write_json};
use serde::{Deserialize, Serialize};

/// What a program used, and how it ended.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Measurement {
    /// Its exit code; none if a signal ended it.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// True if it was ended because its time was over.
    pub is_out_of_time: bool,
    /// Wall-clock time in seconds.
    pub time_s: f64,
    /// Processor time of the program and of all that it waited for, in seconds; where its time was over, also of
    /// the others in its group.
    pub cpu_s: f64,
    /// The most memory that one of them had, in 10⁶ bytes.
    pub peak_memory_mb: f64,
}

/// Says what is run within which limits.
#[derive(Clone, PartialEq, Debug)]
pub struct MeasureRequest {
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// The limit of wall-clock time; the program and all that it started are killed then.
    pub time: Option<Duration>,
    /// The limit of processor time in whole seconds, which the system keeps for each process.
    pub cpu_seconds: Option<u64>,
    /// The limit of the address space in bytes, which the system keeps for each process.
    pub memory: Option<u64>,
    /// True if the end of standard input ends the program.
    pub ends_with_input: bool,
}

/// Runs a program to its end, and writes what it used to a file.
///
/// # Errors
/// If it cannot be started, or the file cannot be written.
pub fn measure(request: &MeasureRequest, out: &Path) -> Result<ExitStatus, Failure> {
    let mut command = limited(request);
    let name = request.command.first().map(|name| name.to_string_lossy().into_owned());
    let failed = |source: io::Error| Failure::Output {
        what: name.clone().unwrap_or_else(|| "a program".to_owned()),
        source,
    };
    if request.ends_with_input {
        command.stdin(Stdio::null());
    }
    // A group of its own: what the program starts is ended with it.
    let begin = Instant::now();
    let mut process = command.process_group(0).spawn().map_err(failed)?;
    let group = i32::try_from(process.id()).map(Pid::from_raw);
    let group = group.map_err(|error| Failure::Internal(error.to_string()))?;
    let (done, events) = channel();
    if request.ends_with_input {
        let input_ended = done.clone();
        std::thread::spawn(move || wait_for_input(&input_ended));
    }
    let time = request.time;
    let guard = std::thread::spawn(move || guard(group, time, &events));
    let status = process.wait().map_err(failed)?;
    let elapsed = begin.elapsed();
    // The guard may have gone already.
    let _ = done.send(Ended::Program);
    let (is_out_of_time, of_others) = guard.join().unwrap_or_default();
    // What the program left running ends with it.
    let _ = killpg(group, Signal::SIGKILL);
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)
        .map_err(|error| Failure::Internal(format!("what a process used: {error}")))?;
    let kilobytes = u32::try_from(usage.max_rss()).unwrap_or(u32::MAX);
    let measurement = Measurement {
        exit_code: status.code(),
        signal: status.signal(),
        is_out_of_time,
        time_s: elapsed.as_secs_f64(),
        cpu_s: seconds(usage.user_time()) + seconds(usage.system_time()) + of_others,
        peak_memory_mb: f64::from(kilobytes) * 1024.0 / 1e6,
    };
    write_json(&out.into(), &measurement)
        .map_err(|source| Failure::Output { what: out.display().to_string(), source })?;
    Ok(status)
}

/// The command, under the limits that the system keeps. A shell sets them for itself, and becomes the
/// program.
fn limited(request: &MeasureRequest) -> Command {
    let mut limits = String::new();
    if let Some(seconds) = request.cpu_seconds {
        limits += &format!("ulimit -t {seconds} && ");
    }
    if let Some(bytes) = request.memory {
        limits += &format!("ulimit -v {} && ", bytes / 1024);
    }
    let mut words = request.command.iter();
    if limits.is_empty() {
        let mut command = Command::new(words.next().cloned().unwrap_or_default());
        command.args(words);
        return command;
    }
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &format!("{limits}exec \"$@\""), "sh"]).args(words);
    command
}

/// What ended.
enum Ended {
    Program,
    Input,
}

fn wait_for_input(ended: &Sender<Ended>) {
    let mut bytes = [0; 64];
    while matches!(io::stdin().lock().read(&mut bytes), Ok(1..)) {}
    // Nobody may listen any more.
    let _ = ended.send(Ended::Input);
}

/// Kills the group when its time is over or the input ends; true if its time was over, with the processor time that
/// those of the group had used which nobody waited for.
fn guard(group: Pid, time: Option<Duration>, events: &Receiver<Ended>) -> (bool, f64) {
    // Longer than any study.
    let longest = Duration::from_secs(u64::from(u32::MAX));
    let event = events.recv_timeout(time.unwrap_or(longest).min(longest));
    let is_out_of_time = matches!(event, Err(RecvTimeoutError::Timeout));
    let mut of_others = 0.0;
    if is_out_of_time || matches!(event, Ok(Ended::Input)) {
        of_others = used_by_others(group);
        // It may have ended just now.
        let _ = killpg(group, Signal::SIGKILL);
    }
    (is_out_of_time, of_others)
}

/// Processor time in seconds that the processes of a group have used, but for the one that leads it: it is waited
/// for. Nothing where the system does not list processes.
fn used_by_others(group: Pid) -> f64 {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let used = processes.filter_map(|process| {
        let text = std::fs::read_to_string(process.path().join("stat")).ok()?;
        // The name before it, in parentheses, may have blanks.
        let (start, fields) = text.rsplit_once(") ")?;
        let fields: Vec<&str> = fields.split(' ').collect();
        let number = |at: usize| fields.get(at)?.parse::<u32>().ok();
        let leads = start.split(' ').next()?.parse() == Ok(group.as_raw());
        // The group; then its own time and that of those it waited for, user and system.
        let is_in_it = i32::try_from(number(2)?) == Ok(group.as_raw());
        let ticks = (11..15).filter_map(number).map(f64::from).sum::<f64>();
        (is_in_it && !leads).then_some(ticks / TICKS)
    });
    used.sum()
}

/// Clock ticks in a second, in which Linux tells times of processes.
const TICKS: f64 = 100.0;

fn seconds(time: TimeVal) -> f64 {
    let microseconds = i32::try_from(time.tv_usec()).unwrap_or(0);
    let whole = u32::try_from(time.tv_sec()).unwrap_or(u32::MAX);
    f64::from(whole) + f64::from(microseconds) / 1e6
}

//! Memory: the peak of this process, and what the machine has.

use std::fs::File;
use std::io::Read as _;

/// Bytes of the system's files that are looked at; they are shorter.
const LENGTH: u64 = 1 << 16;
/// As long as most of them, so that few reads are needed.
const USUAL_LENGTH: usize = 1 << 13;

/// Peak resident memory of this process in MB (10⁶ bytes), where the system tells (Linux).
#[must_use]
pub fn peak_memory_mb() -> Option<f64> {
    let kilobytes = line_of("/proc/self/status", "VmHWM:")?;
    u32::try_from(kilobytes / 10).ok().map(|tens| f64::from(tens) * 10.0 * 1024.0 / 1e6)
}

/// Memory that is available without swapping, in bytes, where the system tells (Linux).
#[must_use]
pub fn available_memory() -> Option<u64> {
    line_of("/proc/meminfo", "MemAvailable:").map(|kilobytes| kilobytes * 1024)
}

/// The number after `key` in a file of `key number kB` lines.
fn line_of(file: &str, key: &str) -> Option<u64> {
    let mut text = Vec::with_capacity(USUAL_LENGTH);
    // The system says of no such file how long it is, and whoever asks reads it in small pieces.
    File::open(file).ok()?.take(LENGTH).read_to_end(&mut text).ok()?;
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #[test]
    fn the_system_tells() {
        assert!(super::peak_memory_mb().is_some_and(|mb| mb > 0.5));
        assert!(super::available_memory().is_some_and(|bytes| bytes > 1 << 20));
    }
}

//! The evidence of verdicts, where a suite asks for it: how large it is, and how long its check takes.

use policert_page::{Cell, Table};

use super::tables::certified;
use crate::journal::{JournalEntry, RunResult};

/// Bytes of a megabyte.
const MEGABYTE: f64 = 1e6;

/// Evidence is meant to be no larger than this.
const MOST_BYTES: f64 = 20.0 * MEGABYTE;

/// What is known of the evidence of a run that has an answer.
struct Measured {
    bytes: Option<f64>,
    verify_s: f64,
    certify_s: f64,
}

impl Measured {
    fn of(result: &RunResult) -> Option<Self> {
        let certify_s = result.measure("certified.time_s")?;
        let verify_s = (result.time_s - certify_s).max(0.0);
        Some(Self { bytes: result.measure("certified.bytes"), verify_s, certify_s })
    }

    /// The check is meant to take no longer than three times the time of the verdict, and a second.
    fn is_quick(&self) -> bool {
        self.certify_s <= 3.0 * self.verify_s + 1.0
    }
}

/// The table of all runs with an answer whose evidence was asked for, and a sentence with the medians; none if there are no
/// such runs.
pub(super) fn evidence(entries: &[JournalEntry]) -> Option<(Table, String)> {
    let answered = entries.iter().filter(|entry| entry.result.has_answer());
    let measured = answered.filter_map(|entry| Some((entry, Measured::of(&entry.result)?)));
    let measured: Vec<(&JournalEntry, Measured)> = measured.collect();
    if measured.is_empty() {
        return None;
    }
    let columns = [
        "instance",
        "configuration",
        "at",
        "verdict",
        "certified",
        "evidence (MB)",
        "verdict (s)",
        "check (s)",
        "reason",
    ];
    let row = |(entry, of): &(&JournalEntry, Measured)| {
        let JournalEntry { key, result, .. } = entry;
        let reason = result.report["certified"]["reason"].as_str().unwrap_or_default();
        vec![
            Cell::Text(key.instance.clone()),
            Cell::Text(key.configuration.clone()),
            Cell::Text(key.point()),
            Cell::Text(result.verdict.clone()),
            Cell::Text(certified(result).to_owned()),
            Cell::number(of.bytes.map(|bytes| bytes / MEGABYTE), 3),
            Cell::number(Some(of.verify_s), 2),
            Cell::number(Some(of.certify_s), 2),
            Cell::Text(reason.to_owned()),
        ]
    };
    let rows = measured.iter().map(row).collect();
    let confirmed: Vec<&Measured> = measured
        .iter()
        .filter(|(entry, _)| entry.result.certified() == Some(true))
        .map(|(_, of)| of)
        .collect();
    let count = |is_so: &dyn Fn(&Measured) -> bool| confirmed.iter().filter(|of| is_so(of)).count();
    let all =
        |number: &dyn Fn(&Measured) -> f64| median(confirmed.iter().map(|of| number(of)).collect());
    let bytes = |of: &Measured| of.bytes.unwrap_or(0.0);
    let largest = confirmed.iter().map(|of| bytes(of)).fold(0.0, f64::max);
    let summary = format!(
        "The evidence of {} of {} verdicts is confirmed. Medians of these: {:.3} MB, {:.2} s for the verdict, {:.2} s \
         for the check. {} checks took at most 3 times as long as the verdict and 1 s more; {} files of evidence have at most \
         20 MB, the largest one {:.1} MB.",
        confirmed.len(),
        measured.len(),
        all(&|of| bytes(of) / MEGABYTE),
        all(&|of| of.verify_s),
        all(&|of| of.certify_s),
        count(&Measured::is_quick),
        count(&|of| bytes(of) <= MOST_BYTES),
        largest / MEGABYTE
    );
    let table = Table {
        id: "table-evidence".to_owned(),
        caption: "Evidence, and its check".to_owned(),
        columns: columns.map(str::to_owned).to_vec(),
        rows,
        filters: false,
    };
    Some((table, summary))
}

/// The middle one of some numbers, or the mean of the two in the middle; 0 of none.
fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    let (half, rest) = (numbers.len() / 2, numbers.len() % 2);
    match (numbers.get(half.wrapping_sub(1)), numbers.get(half)) {
        (_, Some(middle)) if rest == 1 => *middle,
        (Some(below), Some(above)) => f64::midpoint(*below, *above),
        (_, _) => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn medians() {
        for (numbers, expected) in
            [(vec![], 0.0), (vec![3.0], 3.0), (vec![4.0, 1.0], 2.5), (vec![9.0, 1.0, 2.0], 2.0)]
        {
            assert!((median(numbers) - expected).abs() < 1e-12);
        }
    }
}

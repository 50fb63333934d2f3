//! The history as a table: the columns are always the same, and new ones come at the end.

use std::{collections::BTreeMap, fmt::Write};

use vestibule_domain::ledger::{LeftAs, RefusedFor, WAIT_BOUNDS};

use super::history::{History, Minute, PeopleCounts};

/// The table: a row for the room as a whole, whose `region` is empty, and one for each region, of each stretch of time.
#[must_use]
pub(crate) fn csv(history: &History) -> String {
    let mut table = header().join(",");
    table.push('\n');
    for minute in &history.minutes {
        write_rows(&mut table, minute);
    }
    table
}

fn header() -> Vec<String> {
    let fixed = ["time", "seconds", "region", "arrivals", "admitted", "waiting_max", "inside_max"];
    let left = LeftAs::ALL.iter().map(|reason| format!("left_{}", reason.name()));
    let refused = RefusedFor::ALL.iter().map(|reason| format!("refused_{}", reason.name()));
    let waits = |what: &'static str| {
        let bounds = WAIT_BOUNDS.iter().map(move |bound| format!("{what}_{bound}s"));
        bounds.chain([format!("{what}_longer")])
    };
    let told = waits("told").chain(["told_unknown".to_owned()]);
    let columns = fixed.into_iter().map(str::to_owned).chain(left).chain(refused);
    columns.chain(told).chain(waits("waited")).collect()
}

fn write_rows(table: &mut String, minute: &Minute) {
    let arrivals: u64 = minute.arrivals.values().sum();
    let levels = format!("{},{},{}", minute.admitted, minute.waiting, minute.inside);
    write_row(table, minute, ("", arrivals, &levels), &minute.people);
    for (region, people) in &minute.regions {
        let arrivals = minute.arrivals.get(region).copied().unwrap_or(0);
        write_row(table, minute, (region, arrivals, ",,"), people);
    }
}

fn write_row(
    table: &mut String,
    minute: &Minute,
    (region, arrivals, levels): (&str, u64, &str),
    people: &PeopleCounts,
) {
    let Minute { minute: time, seconds, .. } = minute;
    let PeopleCounts { left, refused, told, waited } = people;
    let of = |counts: &BTreeMap<&str, u64>, name| counts.get(name).copied().unwrap_or(0);
    let left = LeftAs::ALL.iter().map(|reason| of(left, reason.name()));
    let refused = RefusedFor::ALL.iter().map(|reason| of(refused, reason.name()));
    let _ = write!(table, "{time},{seconds},{region},{arrivals},{levels}");
    for count in left.chain(refused).chain(told.iter().chain(waited).copied()) {
        let _ = write!(table, ",{count}");
    }
    table.push('\n');
}

#[cfg(test)]
mod tests {
    use vestibule_domain::ledger::{Figure, Figures};
    use vestibule_store::MinuteTraffic;

    use super::{super::history::HistoryStep, *};

    #[test]
    fn every_row_has_every_column() {
        let mut figures = Figures::default();
        figures.add("", Figure::Waiting, 7);
        figures.add("", Figure::Left(LeftAs::Reset), 2);
        figures.add("eu", Figure::Waited(3), 4);
        let arrivals = BTreeMap::from([("eu".to_owned(), 9)]);
        let traffic = MinuteTraffic { arrivals, admitted: 5, figures };
        let minutes = BTreeMap::from([(10, traffic)]);
        let (room, step) = ("sale".parse().unwrap(), (HistoryStep::Minute, (0, 99)));
        let table = csv(&History::new(room, step, minutes, BTreeMap::new()));
        let rows: Vec<Vec<&str>> = table.lines().map(|row| row.split(',').collect()).collect();
        assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{table}");
        let cell = |row: usize, name: &str| {
            rows[row][rows[0].iter().position(|column| *column == name).unwrap()]
        };
        assert_eq!(&rows[1][..7], ["600", "60", "", "9", "5", "7", "0"]);
        assert_eq!((cell(1, "left_reset"), cell(1, "waited_60s")), ("2", "4"));
        assert_eq!(&rows[2][..7], ["600", "60", "eu", "9", "", "", ""]);
        assert_eq!((cell(2, "left_reset"), cell(2, "waited_60s")), ("0", "4"));
    }
}

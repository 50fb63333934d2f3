//! How every report for people is laid out: sections of rows, and plain tables. What they say is
//! elsewhere.

use std::fmt::Display;

use comfy_table::{CellAlignment, Row, Table, presets};

/// A title, and rows of a label, a value and a remark.
#[derive(Debug)]
pub(crate) struct Section {
    title: &'static str,
    rows: Vec<[String; 3]>,
}

// === impl Section ===

impl Section {
    /// A section without rows, which is not shown.
    pub(crate) fn new(title: &'static str) -> Self {
        Self { title, rows: Vec::new() }
    }

    /// The same with one more row.
    pub(crate) fn row(
        mut self,
        label: &str,
        value: impl Display,
        remark: impl Into<String>,
    ) -> Self {
        self.rows.push([format!("  {label}"), value.to_string(), remark.into()]);
        self
    }

    /// The same with one more row, if there is a value; `show` gives its text and the remark.
    pub(crate) fn maybe<T>(
        self,
        label: &str,
        value: Option<T>,
        show: impl Fn(T) -> (String, String),
    ) -> Self {
        match value.map(show) {
            Some((value, remark)) => self.row(label, value, remark),
            None => self,
        }
    }
}

/// The sections that have rows, their columns below each other, each after an empty line.
pub(crate) fn sections(sections: &[Section]) -> String {
    let shown = || sections.iter().filter(|section| !section.rows.is_empty());
    let mut table = plain();
    table.add_rows(shown().flat_map(|section| &section.rows));
    align_right(&mut table, &[1]);
    let (mut out, mut lines) = (String::new(), table.lines());
    for section in shown() {
        out = out + "\n" + section.title + "\n";
        for line in lines.by_ref().take(section.rows.len()) {
            out = out + line.trim_end() + "\n";
        }
    }
    out
}

/// A table, some of whose columns are aligned to the right.
pub(crate) fn table<R: Into<Row>>(
    header: impl Into<Row>,
    rows: impl IntoIterator<Item = R>,
    right: &[usize],
) -> String {
    let mut table = plain();
    table.set_header(header).add_rows(rows);
    align_right(&mut table, right);
    table.trim_fmt() + "\n"
}

/// A share, for people.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.2}%", share * 100.0)
}

fn plain() -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table
}

/// Also says how far columns stand apart; they are known only once there are rows.
fn align_right(table: &mut Table, right: &[usize]) {
    for (nth, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if right.contains(&nth) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_below_each_other_and_lines_end_with_their_words() {
        let some = Section::new("Some").row("one", 1, "").row("eleven", 11, "of them");
        let text = sections(&[some, Section::new("None"), Section::new("More").row("b", 2, "")]);
        assert_eq!(text, "\nSome\n  one      1\n  eleven  11  of them\n\nMore\n  b        2\n");
        let text = table(["a", "b"], [["x", "10"], ["y", "9"]], &[1]);
        assert_eq!(text, "a   b\nx  10\ny   9\n");
    }
}

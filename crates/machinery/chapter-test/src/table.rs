//! The tables that chapters print.

/// The rows of a table, and its heading: the cells of each line.
pub fn rows(table: &str) -> impl Iterator<Item = Vec<&str>> {
    let lines = table.lines().map(|line| line.trim_matches('|'));
    lines.map(|line| line.split('|').map(str::trim).collect())
}

/// The first row that begins with `variant`: its cells.
pub fn row<'a>(table: &'a str, variant: &str) -> Vec<&'a str> {
    let row = rows(table).find(|cells| cells.first() == Some(&variant));
    row.unwrap_or_else(|| panic!("no row for {variant} in\n{table}"))
}

//! Parsing of the tables that chapters print.

/// Returns the cells of each row of a table, including its header.
pub fn rows(table: &str) -> impl Iterator<Item = Vec<&str>> {
    let lines = table.lines().map(|line| line.trim_matches('|'));
    lines.map(|line| line.split('|').map(str::trim).collect())
}

/// Returns the cells of the first row that begins with `variant`.
pub fn row<'a>(table: &'a str, variant: &str) -> Vec<&'a str> {
    let row = rows(table).find(|cells| cells.first() == Some(&variant));
    row.unwrap_or_else(|| panic!("no row for {variant} in\n{table}"))
}

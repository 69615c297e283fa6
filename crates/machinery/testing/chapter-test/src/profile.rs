//! Checks of a chapter's `--profile` and `--plot`, and parsing of the tables that chapters print.

use std::fs;

use serde_json::Value;

use crate::chapter::files;
use crate::{Chapter, Run};

impl Chapter {
    /// Runs the program with `arguments` and `--profile` and fails unless it adds tables of counters and
    /// lines of advice to the normal output, and with `=lines` also the source. `kernels` are the variants
    /// that launch a kernel, each with a substring of a line that it executes.
    ///
    /// The record must contain the same counters, only for these kernels, and be the same in two runs.
    pub fn check_profile(&self, arguments: &str, kernels: &[(&str, &str)]) {
        let plain = self.run(arguments).stdout;
        let summary = self.run(&format!("{arguments} --profile"));
        let lines = self.run(&format!("{arguments} --profile=lines"));
        for Run { stdout, .. } in [&summary, &lines] {
            assert!(stdout.starts_with(plain.trim_end()), "{stdout}");
            assert!(stdout.contains("| in Nsight Compute"), "{stdout}");
            assert!(stdout.contains("| smsp__inst_executed.sum"), "{stdout}");
            for (variant, _) in kernels {
                assert!(has_column(stdout, variant), "no {variant} in\n{stdout}");
                assert!(stdout.contains(&format!("\n{variant}: ")), "{stdout}");
            }
        }
        for (variant, words) in kernels {
            // The listing's heading also names the kernel if its name differs from the variant's.
            let (_, listing) = lines
                .stdout
                .split_once(&format!("\n{variant}, "))
                .or_else(|| lines.stdout.split_once(&format!("\n{variant}: bound by ")))
                .unwrap_or_else(|| panic!("no listing of {variant} in\n{}", lines.stdout));
            let mut listing = listing.lines().take_while(|line| !line.is_empty());
            let counted = |line: &str| line.contains(words) && line.starts_with([' ', '>']);
            assert!(
                listing.any(counted),
                "no line with {words} in the listing of {variant} in\n{}",
                lines.stdout
            );
        }
        let wide = lines.stdout.lines().skip(plain.lines().count());
        let mut wide = wide.filter(|line| !line.starts_with('|'));
        assert!(
            wide.all(|line| line.chars().count() <= 100),
            "{}",
            lines.stdout
        );
        let again = self.run(&format!("{arguments} --profile=lines"));
        assert_eq!(again.stdout, lines.stdout);

        self.check_chinese(arguments, &summary.stdout);
        self.check_records(arguments, kernels);
        self.rejects(2, "--profile=line", &["--profile", "summary, lines"]);
        self.check_plot(arguments);
    }

    /// Fails unless `--lang zh` prints the tables and the advice in Chinese, with the numbers of `english`.
    fn check_chinese(&self, arguments: &str, english: &str) {
        let Run { stdout, stderr, .. } = self.run(&format!("{arguments} --profile --lang zh"));
        let numbers = |text: &str| -> Vec<String> {
            let rows = text.lines().filter(|line| line.starts_with('|'));
            let cells = rows.flat_map(|row| row.split('|').map(str::trim).map(str::to_owned));
            let is_number = |cell: &String| cell.starts_with(|first: char| first.is_ascii_digit());
            cells
                .filter(is_number)
                .map(|cell| cell.replace(" of ", " / "))
                .collect()
        };
        assert_eq!(numbers(&stdout), numbers(english), "{stdout}");
        let (_, profile) = stdout.split_once("\n性能分析：").expect("a profile");
        let is_text = |line: &&str| !line.is_empty() && !line.starts_with("|--");
        for line in profile.lines().filter(is_text) {
            let label = match line.strip_prefix("| ") {
                Some(row) => row.split('|').next().unwrap_or_default(),
                None => line,
            };
            assert!(!label.is_ascii(), "not translated: {label}\n{stdout}");
        }
        let notes = stderr.lines().skip_while(|line| !line.contains("估算"));
        assert!(notes.count() > 1, "{stderr}");
        let untranslated = ["Modelled", "The picture", "Speedup", "check  "];
        for text in untranslated {
            assert!(!stderr.contains(text) && !stdout.contains(text), "{stdout}");
        }
        self.rejects(2, "--lang fr", &["--lang", "en, zh"]);
    }

    /// Fails unless the record has counters for `kernels` and null for all other results.
    fn check_records(&self, arguments: &str, kernels: &[(&str, &str)]) {
        let record = self.record(&format!("{arguments} --profile=lines"));
        assert_eq!(record, self.record(&format!("{arguments} --profile=lines")));
        for result in record["results"].as_array().expect("results are a list") {
            let is_kernel = kernels
                .iter()
                .any(|(variant, _)| result["variant"] == *variant);
            if is_kernel {
                let instructions = &result["counters"]["smsp__inst_executed.sum"];
                assert!(instructions.as_u64() > Some(0), "{result:#}");
                assert!(
                    result["model"]["milliseconds"].as_f64() > Some(0.0),
                    "{result:#}"
                );
                let lines = result["lines"].as_array().expect("lines are a list");
                let of_line = |line: &Value| line["counters"]["smsp__inst_executed.sum"].as_u64();
                let sum: Option<u64> = lines.iter().map(of_line).sum();
                assert_eq!(sum, instructions.as_u64(), "{result:#}");
            } else {
                assert!(result["counters"].is_null(), "{result:#}");
                assert!(result["model"].is_null(), "{result:#}");
            }
        }
        let record = self.record(arguments);
        assert_eq!(record["results"][0].get("lines"), None);
    }

    /// Fails unless `--plot` saves two pictures, or is rejected before the run.
    fn check_plot(&self, arguments: &str) {
        let run = self.run(&format!("{arguments} --plot times"));
        assert!(run.stderr.contains("times.svg"), "{}", run.stderr);
        let svg = fs::read_to_string(run.folder.path().join("times.svg")).expect("an SVG");
        assert!(svg.contains("<svg"), "{svg}");
        let png = fs::read(run.folder.path().join("times.png")).expect("a PNG");
        assert_eq!(png.get(..8), Some(&b"\x89PNG\r\n\x1a\n"[..]));
        let left: Vec<_> = files(run.folder.path());
        assert!(
            left.iter()
                .all(|name| !name.to_string_lossy().ends_with(".tmp"))
        );
        self.rejects(2, "--plot no-folder/times", &["--plot", "no folder"]);
    }
}

/// Returns true if a table of counters has a column with this name.
fn has_column(text: &str, name: &str) -> bool {
    let mut headers = rows(text).filter(|cells| cells.first() == Some(&"counter"));
    headers.any(|cells| cells.contains(&name))
}

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

/// Returns the lines of the first table of `text`, without its header.
pub fn body(text: &str) -> Vec<&str> {
    let rows = text.lines().skip(2);
    rows.take_while(|line| line.starts_with('|')).collect()
}

/// Returns the variants of a record's results.
pub fn variants(results: &[Value]) -> Vec<&str> {
    let names = results.iter().map(|result| result["variant"].as_str());
    names
        .map(|name| name.expect("a variant has a name"))
        .collect()
}

/// Returns the value of a result's counter.
pub fn counter(result: &Value, name: &str) -> u64 {
    let value = result["counters"][name].as_u64();
    value.unwrap_or_else(|| panic!("no {name} in {result:#}"))
}

/// Returns the name of the counter of `metric`, requests or sectors, of loads (`ld`) or stores (`st`) in global
/// memory.
pub fn global(metric: &str, op: &str) -> String {
    format!("l1tex__t_{metric}_pipe_lsu_mem_global_op_{op}.sum")
}

//! What a chapter's `--profile` and `--plot` show.

use std::fs;

use crate::chapter::files;
use crate::table::rows;
use crate::{Chapter, Run};

impl Chapter {
    /// Runs it with `arguments` and `--profile`, which has to add tables of counters and a line of
    /// advice to what it prints without, and with `=lines` the source as well. `kernels` are the
    /// variants that launch one, each with some words of a line that it executes.
    ///
    /// The same counters have to be in the record, twice the same, and nowhere else.
    pub fn profiles(&self, arguments: &str, kernels: &[(&str, &str)]) {
        let plain = self.runs(arguments).stdout;
        let summary = self.runs(&format!("{arguments} --profile"));
        let lines = self.runs(&format!("{arguments} --profile=lines"));
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
            // A variant that is called otherwise than its kernel has that beside it.
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
        let again = self.runs(&format!("{arguments} --profile=lines"));
        assert_eq!(again.stdout, lines.stdout);

        self.records(arguments, kernels);
        self.refuses(2, "--profile=line", &["--profile", "summary, lines"]);
        self.draws(arguments);
    }

    /// The record has counters for `kernels`, and null for all others.
    fn records(&self, arguments: &str, kernels: &[(&str, &str)]) {
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
                let of_line =
                    |line: &serde_json::Value| line["counters"]["smsp__inst_executed.sum"].as_u64();
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

    /// `--plot` leaves two pictures, or refuses before the run.
    fn draws(&self, arguments: &str) {
        let run = self.runs(&format!("{arguments} --plot times"));
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
        self.refuses(2, "--plot no-folder/times", &["--plot", "no folder"]);
    }
}

/// Whether a table of counters has a column of that name.
fn has_column(text: &str, name: &str) -> bool {
    let mut headers = rows(text).filter(|cells| cells.first() == Some(&"counter"));
    headers.any(|cells| cells.contains(&name))
}

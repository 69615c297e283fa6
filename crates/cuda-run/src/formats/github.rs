//! Workflow commands of GitHub Actions, which annotate lines of a pull request:
//! `::error file=add.cu,line=7,title=Data race::…`.

use telemetry::{Level, Rule};

use super::paths::SourceRoot;
use super::{Report, title};

/// Returns one command per problem.
pub fn commands(report: &Report) -> String {
    let root = SourceRoot::new();
    let rules = Rule::all();
    let lines = report.problems.iter().map(|problem| {
        let command = match problem.severity {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "notice",
        };
        let mut properties = Vec::new();
        if let Some(location) = &problem.location {
            properties.push(("file", root.relative(&location.file)));
            properties.push(("line", location.line.to_string()));
        }
        properties.push(("title", title(&rules, problem)));
        let properties = properties.iter();
        let properties = properties.map(|(name, value)| format!("{name}={}", property(value)));
        let properties = properties.collect::<Vec<_>>().join(",");
        format!("::{command} {properties}::{}\n", data(&problem.message))
    });
    lines.collect()
}

/// Escapes a message.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// Escapes the value of a property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_characters_are_escaped() {
        assert_eq!(data("100 %: a,\nb\r"), "100 %25: a,%0Ab%0D");
        assert_eq!(property("c:\\a,b.cu"), "c%3A\\a%2Cb.cu");
    }
}

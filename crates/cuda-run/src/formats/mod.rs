//! The report in machine-readable formats. All contain the same [`Problem`]s.

mod junit;
mod sarif;

use std::path::{Component, Path, PathBuf};
use std::{env, path};

use anyhow::Result;
use common::gpu::GpuInfo;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use telemetry::record::{Record, Run};
use telemetry::{Level, Problem, Rule, Summary};

use crate::flags::{Flags, Format};

/// The report on a run.
pub struct Report<'a> {
    pub flags: &'a Flags,
    /// The GPU, or `None` if the program was not run because there is none of this name.
    pub gpu: Option<&'a GpuInfo>,
    pub summary: &'a Summary,
    pub problems: &'a [Problem],
    /// The exit status of cuda-run.
    pub status: i32,
    pub run: &'a Run,
}

impl Report<'_> {
    /// Formats the report.
    ///
    /// # Errors
    ///
    /// Fails if the text format is requested, which is printed elsewhere, or if the record cannot be serialized.
    pub fn format(&self, format: Format) -> Result<String> {
        match format {
            Format::Text => anyhow::bail!("the report in text is printed as it is"),
            Format::Json => {
                let report = &self.flags.show.report;
                // A program that was not run was not checked.
                let checks = report.check.filter(|_| self.run.status.is_some());
                let requested = (report.profile, checks);
                let record =
                    Record::new(self.run, self.gpu, requested, self.summary, self.problems);
                Ok(serde_json::to_string_pretty(&record)? + "\n")
            }
            Format::Sarif => Ok(serde_json::to_string_pretty(&sarif::log(self))? + "\n"),
            Format::Junit => Ok(junit::document(self)?),
            Format::Github => Ok(github_commands(self)),
        }
    }
}

/// Returns the title of a problem's kind.
fn title(rules: &[Rule], problem: &Problem) -> String {
    let rule = rules.iter().find(|rule| rule.name == problem.kind);
    rule.map_or_else(|| problem.headline().to_owned(), |rule| rule.title.clone())
}

/// The root of the source tree.
struct SourceRoot(PathBuf);

impl SourceRoot {
    /// Returns the checkout of a GitHub workflow if the working directory is in it, otherwise the working directory.
    fn new() -> SourceRoot {
        let current = env::current_dir().unwrap_or_default();
        let workspace = env::var_os("GITHUB_WORKSPACE").map(PathBuf::from);
        let workspace =
            workspace.filter(|workspace| workspace.is_absolute() && current.starts_with(workspace));
        SourceRoot(workspace.unwrap_or(current))
    }

    /// Returns the path of a file relative to the root, with `/` between its components; an absolute path if the file
    /// is outside.
    fn relative(&self, file: &str) -> String {
        let file = normalized(&path::absolute(file).unwrap_or_else(|_| file.into()));
        let file = file.strip_prefix(&self.0).unwrap_or(&file);
        file.to_string_lossy().replace('\\', "/")
    }
}

/// Removes the components `.` and `..`.
fn normalized(path: &Path) -> PathBuf {
    let mut normalized = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normalized.pop();
            }
            _ => normalized.push(component),
        }
    }
    normalized
}

/// The characters that the path of a URI may contain unescaped, apart from letters and digits (RFC 3986, section 3.3).
const PATH: AsciiSet = NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/')
    .remove(b':');

/// Converts a path to a URI: a relative reference, or an absolute one for an absolute path.
fn uri(path: &str) -> String {
    let start = match path {
        _ if path.starts_with('/') => "file://",
        _ if Path::new(path).is_absolute() => "file:///",
        // Otherwise the colon would end a scheme (section 4.2).
        _ if path
            .split('/')
            .next()
            .is_some_and(|first| first.contains(':')) =>
        {
            "./"
        }
        _ => "",
    };
    format!("{start}{}", utf8_percent_encode(path, &PATH))
}

/// Returns the workflow commands of GitHub Actions that annotate the lines of a pull request, one per problem:
/// `::error file=add.cu,line=7,title=Data race::…`.
fn github_commands(report: &Report) -> String {
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
        if let Some(column) = problem.column {
            properties.push(("col", column.to_string()));
        }
        properties.push(("title", title(&rules, problem)));
        let properties = properties.iter();
        let properties =
            properties.map(|(name, value)| format!("{name}={}", escape_property(value)));
        let properties = properties.collect::<Vec<_>>().join(",");
        format!(
            "::{command} {properties}::{}\n",
            escape_data(&problem.message)
        )
    });
    lines.collect()
}

/// Escapes the message of a workflow command.
fn escape_data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// Escapes the value of a property of a workflow command.
fn escape_property(text: &str) -> String {
    escape_data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_to_the_root() {
        let root = SourceRoot(env::current_dir().unwrap());
        assert_eq!(root.relative("./a/../b/c.cu"), "b/c.cu");
        let inside = root.0.join("d.cu");
        assert_eq!(root.relative(inside.to_str().unwrap()), "d.cu");
    }

    #[test]
    fn special_characters_are_encoded() {
        assert_eq!(uri("my kernels/核.cu"), "my%20kernels/%E6%A0%B8.cu");
        assert_eq!(uri("/usr/a#.h"), "file:///usr/a%23.h");
        assert_eq!(uri("a b/100%&c?.cu"), "a%20b/100%25%26c%3F.cu");
        // A colon in the first segment would end a scheme.
        assert_eq!(uri("a:b.cu"), "./a:b.cu");
        assert_eq!(uri("a/b:c.cu"), "a/b:c.cu");
    }

    #[test]
    fn special_characters_of_workflow_commands_are_escaped() {
        assert_eq!(escape_data("100 %: a,\nb\r"), "100 %25: a,%0Ab%0D");
        assert_eq!(escape_property("c:\\a,b.cu"), "c%3A\\a%2Cb.cu");
    }
}

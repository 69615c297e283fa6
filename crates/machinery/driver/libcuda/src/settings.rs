//! Settings from the environment.

use std::env::var_os;
use std::path::{Path, PathBuf};

use chapter::flags::Detail;

/// The reports to produce at the end of the program.
#[derive(Debug, Default, PartialEq)]
pub struct Settings {
    /// `CUDA_RUN_TOLD`: the folder in which each process writes a file of events, which `cuda-run` reads and
    /// reports.
    pub events_folder: Option<PathBuf>,
    /// True to print a summary on stderr.
    pub summary: bool,
    pub profile: Option<Detail>,
    pub json: Option<PathBuf>,
    pub log: Option<PathBuf>,
}

impl Settings {
    /// Reads the settings from the environment.
    ///
    /// # Errors
    ///
    /// Fails if a variable has an invalid value.
    pub fn from_env() -> Result<Self, String> {
        Self::parse(|name| {
            let value = var_os(name).filter(|value| !value.is_empty());
            value
                .map(|value| {
                    value
                        .into_string()
                        .map_err(|_| format!("{name} is not valid UTF-8"))
                })
                .transpose()
        })
    }

    fn parse(value: impl Fn(&str) -> Result<Option<String>, String>) -> Result<Self, String> {
        let file = |name| {
            let path = value(name)?.map(|path| std::path::absolute(&path).unwrap_or(path.into()));
            match path.as_deref().and_then(Path::parent) {
                Some(folder) if !folder.is_dir() => {
                    Err(format!("{name}: there is no folder {}", folder.display()))
                }
                _ => Ok(path),
            }
        };
        let profile = match value("CUDA_SIM_PROFILE")?.as_deref() {
            None => None,
            Some("summary") => Some(Detail::Summary),
            Some("lines") => Some(Detail::Lines),
            Some(other) => {
                return Err(format!(
                    "CUDA_SIM_PROFILE={other} is neither summary nor lines"
                ));
            }
        };
        let summary = match value("CUDA_SIM_SUMMARY")?.as_deref() {
            None | Some("0") => false,
            Some("1") => true,
            Some(other) => return Err(format!("CUDA_SIM_SUMMARY={other} is neither 1 nor 0")),
        };
        Ok(Settings {
            events_folder: value("CUDA_RUN_TOLD")?.map(PathBuf::from),
            summary: summary || profile.is_some(),
            profile,
            json: file("CUDA_SIM_JSON")?,
            log: file("CUDA_SIM_LOG")?,
        })
    }

    /// Returns true if launches must collect all counters.
    pub fn needs_counters(&self) -> bool {
        self.profile.is_some() || self.json.is_some()
    }

    /// Returns true if any report is requested.
    pub fn is_active(&self) -> bool {
        *self != Settings::default()
    }
}

//! What the environment asks for.

use std::env::var_os;
use std::path::{Path, PathBuf};

use chapter::flags::Detail;

/// What is to be told at the program's end, and where.
#[derive(Debug, Default, PartialEq)]
pub struct Settings {
    /// `CUDA_RUN_TOLD`: a folder in which each process has a file for what happens. `cuda-run` reads them,
    /// and tells.
    pub told: Option<PathBuf>,
    /// A summary on stderr.
    pub summary: bool,
    pub profile: Option<Detail>,
    pub json: Option<PathBuf>,
    pub log: Option<PathBuf>,
}

impl Settings {
    /// As the environment has it.
    ///
    /// # Errors
    ///
    /// Where a variable has a value that it cannot have.
    pub fn read() -> Result<Self, String> {
        Self::of(|name| {
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

    fn of(value: impl Fn(&str) -> Result<Option<String>, String>) -> Result<Self, String> {
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
            told: value("CUDA_RUN_TOLD")?.map(PathBuf::from),
            summary: summary || profile.is_some(),
            profile,
            json: file("CUDA_SIM_JSON")?,
            log: file("CUDA_SIM_LOG")?,
        })
    }

    /// Whether launches have to be counted in full.
    pub fn counts(&self) -> bool {
        self.profile.is_some() || self.json.is_some()
    }

    /// Whether anything is asked for.
    pub fn ask(&self) -> bool {
        *self != Settings::default()
    }
}

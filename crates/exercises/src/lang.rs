//! English and Chinese: every sentence stands in both where it is used.

use std::env;
use std::fmt;
use std::sync::OnceLock;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// The language of what is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lang {
    /// English
    En,
    /// 中文
    Zh,
}

impl Lang {
    /// The system's: Chinese where its locale is a Chinese one, else English.
    pub fn of_system() -> Lang {
        match sys_locale::get_locale() {
            Some(locale) if locale.to_ascii_lowercase().starts_with("zh") => Lang::Zh,
            _ => Lang::En,
        }
    }

    /// What `--lang` asks for, looked up before the flags are read so that `--help` speaks it as well;
    /// else the system's.
    pub fn chosen() -> Lang {
        static CHOSEN: OnceLock<Lang> = OnceLock::new();
        *CHOSEN.get_or_init(|| asked(arguments()).unwrap_or_else(Lang::of_system))
    }

    /// One of two texts.
    pub fn pick<T>(self, en: T, zh: T) -> T {
        match self {
            Lang::En => en,
            Lang::Zh => zh,
        }
    }
}

/// A text for `--help`.
pub fn tr(en: &'static str, zh: &'static str) -> &'static str {
    Lang::chosen().pick(en, zh)
}

/// The arguments; what is no Unicode in them is no language either.
fn arguments() -> impl Iterator<Item = String> {
    env::args_os().map(|argument| argument.to_string_lossy().into_owned())
}

/// What follows `--lang`; none where it is no language, which the flags complain about.
fn asked(arguments: impl Iterator<Item = String>) -> Option<Lang> {
    let mut arguments = arguments.skip_while(|argument| !argument.starts_with("--lang"));
    let found = arguments.next()?;
    let value = match found.split_once('=') {
        Some((_, value)) => value.to_owned(),
        None => arguments.next()?,
    };
    Lang::from_str(&value, false).ok()
}

impl fmt::Display for Lang {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.pick("en", "zh"))
    }
}

/// A sentence in the language: `say!(lang, "{} of {}", "共 {1} 个，第 {0} 个"; which, all)`. What
/// follows the semicolon goes to both, by its place, so that neither can leave something out.
#[macro_export]
macro_rules! say {
    ($lang:expr, $en:literal, $zh:literal $(; $($value:expr),+ $(,)?)?) => {
        match $lang {
            $crate::lang::Lang::En => format!($en $(, $($value),+)?),
            $crate::lang::Lang::Zh => format!($zh $(, $($value),+)?),
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_is_found_before_the_others_are_read() {
        let asked = |text: &str| asked(text.split(' ').map(str::to_owned));
        assert_eq!(asked("exercises --lang zh list"), Some(Lang::Zh));
        assert_eq!(asked("exercises list --lang=en"), Some(Lang::En));
        for none in ["exercises list", "exercises --lang", "exercises --lang fr"] {
            assert_eq!(asked(none), None, "{none}");
        }
    }

    #[test]
    fn a_sentence_has_its_values_in_either_order() {
        let said = |lang| say!(lang, "{} of {}", "共 {1} 个，第 {0} 个"; 2, 3);
        assert_eq!(said(Lang::En), "2 of 3");
        assert_eq!(said(Lang::Zh), "共 3 个，第 2 个");
    }
}

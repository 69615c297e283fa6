//! The languages, English and Chinese. Both versions of a sentence are written where it is used.

use std::collections::BTreeMap;
use std::env;
use std::fmt;
use std::sync::OnceLock;

use clap::ValueEnum;
use serde::{Deserialize, Deserializer, Serialize};

/// The language of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lang {
    /// English
    En,
    /// 中文
    Zh,
}

impl Lang {
    /// Returns the system's language: Chinese if its locale is Chinese, otherwise English.
    pub fn system() -> Lang {
        match sys_locale::get_locale() {
            Some(locale) if locale.to_ascii_lowercase().starts_with("zh") => Lang::Zh,
            _ => Lang::En,
        }
    }

    /// Returns the language given by `--lang`, otherwise the system's. The argument is found before the flags
    /// are parsed, so that `--help` uses the language too.
    pub fn current() -> Lang {
        static CURRENT: OnceLock<Lang> = OnceLock::new();
        *CURRENT.get_or_init(|| lang_argument(arguments()).unwrap_or_else(Lang::system))
    }

    /// Returns one of two values, depending on the language.
    pub fn pick<T>(self, en: T, zh: T) -> T {
        match self {
            Lang::En => en,
            Lang::Zh => zh,
        }
    }
}

/// Returns one of two texts, depending on the program's language.
pub fn tr(en: &'static str, zh: &'static str) -> &'static str {
    Lang::current().pick(en, zh)
}

/// Returns the arguments, with invalid Unicode replaced, because it cannot name a language.
fn arguments() -> impl Iterator<Item = String> {
    env::args_os().map(|argument| argument.to_string_lossy().into_owned())
}

/// Returns the value of `--lang`; `None` if it is missing or invalid, which parsing the flags reports.
fn lang_argument(arguments: impl Iterator<Item = String>) -> Option<Lang> {
    let mut arguments = arguments.skip_while(|argument| !argument.starts_with("--lang"));
    let flag = arguments.next()?;
    let value = match flag.split_once('=') {
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

/// Formats a sentence in the given language: `localize!(lang, "{} of {}", "共 {1} 个，第 {0} 个"; index, count)`.
/// The values after the semicolon are passed to both format strings.
#[macro_export]
macro_rules! localize {
    ($lang:expr, $en:literal, $zh:literal $(; $($value:expr),+ $(,)?)?) => {
        match $lang {
            $crate::lang::Lang::En => format!($en $(, $($value),+)?),
            $crate::lang::Lang::Zh => format!($zh $(, $($value),+)?),
        }
    };
}

/// Formats a sentence in both languages as a [`Text`]: `text!("{} of {}", "共 {1} 个，第 {0} 个"; index, count)`.
#[macro_export]
macro_rules! text {
    ($en:literal, $zh:literal $(; $($value:expr),+ $(,)?)?) => {
        $crate::lang::Text {
            en: format!($en $(, $($value),+)?),
            zh: format!($zh $(, $($value),+)?),
        }
    };
}

/// A text in both languages.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Text {
    /// In English.
    pub en: String,
    /// In Chinese.
    pub zh: String,
}

/// A text as written in TOML: `{ en = "…", zh = "…" }`, one of the two, or one string for both.
#[derive(Deserialize)]
#[serde(untagged)]
enum TomlText {
    Single(String),
    ByLanguage(BTreeMap<String, String>),
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Text, D::Error> {
        const FORMAT: &str =
            "a text must be \"…\" or { en = \"…\", zh = \"…\" }, or have only one of the two";
        let written = TomlText::deserialize(from).map_err(|_| serde::de::Error::custom(FORMAT))?;
        let mut texts = match written {
            TomlText::Single(text) => {
                return Ok(Text {
                    en: text.clone(),
                    zh: text,
                });
            }
            TomlText::ByLanguage(texts) => texts,
        };
        let (en, zh) = (texts.remove("en"), texts.remove("zh"));
        if let Some(other) = texts.keys().next() {
            let message = format!("unknown field `{other}`: {FORMAT}");
            return Err(serde::de::Error::custom(message));
        }
        match (en, zh) {
            (Some(en), Some(zh)) => Ok(Text { en, zh }),
            (Some(only), None) | (None, Some(only)) => Ok(Text {
                en: only.clone(),
                zh: only,
            }),
            (None, None) => Err(serde::de::Error::custom(FORMAT)),
        }
    }
}

impl Text {
    /// Builds a text by calling `f` for each language.
    pub fn from_fn(f: impl Fn(Lang) -> String) -> Text {
        Text {
            en: f(Lang::En),
            zh: f(Lang::Zh),
        }
    }

    /// Returns the text in a language.
    pub fn get(&self, lang: Lang) -> &str {
        lang.pick(&self.en, &self.zh)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_is_found_before_parsing() {
        let lang_argument = |text: &str| lang_argument(text.split(' ').map(str::to_owned));
        assert_eq!(lang_argument("exercises --lang zh list"), Some(Lang::Zh));
        assert_eq!(lang_argument("exercises list --lang=en"), Some(Lang::En));
        for none in ["exercises list", "exercises --lang", "exercises --lang fr"] {
            assert_eq!(lang_argument(none), None, "{none}");
        }
    }

    #[test]
    fn values_can_appear_in_either_order() {
        let sentence = |lang| localize!(lang, "{} of {}", "共 {1} 个，第 {0} 个"; 2, 3);
        assert_eq!(sentence(Lang::En), "2 of 3");
        assert_eq!(sentence(Lang::Zh), "共 3 个，第 2 个");
    }
}

//! Texts of an exercise, each in English and Chinese.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};

use crate::lang::Lang;

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

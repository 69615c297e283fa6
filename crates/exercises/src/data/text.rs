//! Texts in English and Chinese.

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
enum Written {
    Same(String),
    Each(BTreeMap<String, String>),
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Text, D::Error> {
        const WHAT: &str =
            "a text is written \"…\", or { en = \"…\", zh = \"…\" }, or one of the two";
        let written = Written::deserialize(from).map_err(|_| serde::de::Error::custom(WHAT))?;
        let mut each = match written {
            Written::Same(text) => {
                return Ok(Text {
                    en: text.clone(),
                    zh: text,
                });
            }
            Written::Each(each) => each,
        };
        let (en, zh) = (each.remove("en"), each.remove("zh"));
        if let Some(other) = each.keys().next() {
            let what = format!("unknown field `{other}`: {WHAT}");
            return Err(serde::de::Error::custom(what));
        }
        match (en, zh) {
            (Some(en), Some(zh)) => Ok(Text { en, zh }),
            (Some(only), None) | (None, Some(only)) => Ok(Text {
                en: only.clone(),
                zh: only,
            }),
            (None, None) => Err(serde::de::Error::custom(WHAT)),
        }
    }
}

impl Text {
    /// Builds a text by calling `said` for each language.
    pub fn both(said: impl Fn(Lang) -> String) -> Text {
        Text {
            en: said(Lang::En),
            zh: said(Lang::Zh),
        }
    }

    /// Returns the text in a language.
    pub fn of(&self, lang: Lang) -> &str {
        lang.pick(&self.en, &self.zh)
    }
}

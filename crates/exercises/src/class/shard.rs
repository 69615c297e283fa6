//! A shard: one of several parts of a class of students. Shards are graded separately, for example on several
//! machines.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::lang::tr;

/// Shard `index` of `of`, counted from 1: `2/4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shard {
    /// The shard's number, from 1.
    pub index: u32,
    /// The number of shards.
    pub of: u32,
}

impl Shard {
    /// Returns true if the shard contains the submission with this number, counted from 0 over the whole
    /// class. Submissions are dealt out round-robin, so that each shard gets some of every exercise.
    pub fn contains(self, number: usize) -> bool {
        number % self.of as usize == self.index as usize - 1
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/');
        let numbers = numbers.and_then(|(k, n)| Some((k.parse().ok()?, n.parse().ok()?)));
        match numbers {
            Some((index @ 1.., of)) if index <= of => Ok(Shard { index, of }),
            _ => Err(tr(
                "write it as K/N, with K from 1 to N, like 2/4",
                "请写成 K/N，K 从 1 到 N，例如 2/4",
            )
            .to_owned()),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_submission_is_in_exactly_one_shard() {
        let parts: Vec<Shard> = (1..=4).map(|k| format!("{k}/4").parse().unwrap()).collect();
        for number in 0..50 {
            let count = parts.iter().filter(|part| part.contains(number)).count();
            assert_eq!(count, 1, "{number}");
        }
        assert!("1/1".parse::<Shard>().unwrap().contains(3));
    }

    #[test]
    fn invalid_shards_are_rejected() {
        for text in [
            "", "1", "0/4", "5/4", "1/0", "-1/4", "a/b", "1/4/2", "1.0/2",
        ] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}

//! Answers that are like each other: winnowing (Schleimer, Wilkerson and Aiken, "Winnowing: local algorithms for
//! document fingerprinting", 2003) of their tokens.
//!
//! Names and numbers count as such, whatever they are, and comments not at all. What the start file has is taken
//! away, and where two answers are compared what the solution has too: those who solve an exercise alike have not
//! copied it.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use anyhow::Result;

use super::Submissions;
use super::table::plain;
use crate::exercise::Exercise;
use crate::lang::Lang;

/// Tokens of a fingerprint.
const TOKENS: usize = 8;
/// Of so many fingerprints in a row one is kept at least.
const WINDOW: usize = 4;
/// Fewer fingerprints than this say nothing.
const FEWEST: usize = 6;
/// From this share on a pair is told.
const SHARE: f64 = 0.6;
/// The same for an answer and the solution, which right answers are like anyway.
const SHARE_OF_SOLUTION: f64 = 0.9;

/// Two answers that are like each other.
#[derive(Clone, Debug, PartialEq)]
struct Pair<'a> {
    exercise: &'a str,
    one: &'a str,
    /// None for the solution.
    other: Option<&'a str>,
    share: f64,
    /// Whether they are the same but for comments and blanks.
    is_same: bool,
}

/// How many pairs there are, and a table of them as CSV.
///
/// # Errors
///
/// None that a text in memory could have.
pub fn copies(submissions: &Submissions, lang: Lang) -> Result<(usize, String)> {
    let mut pairs = Vec::new();
    for &exercise in &submissions.exercises {
        // Who cannot be read is ungraded, and told there.
        let texts = submissions.students.iter().filter_map(|student| {
            let text = submissions.answer(student, exercise, lang).ok().flatten();
            Some((student.as_str(), text?))
        });
        pairs.extend(alike(exercise, &texts.collect::<Vec<_>>()));
    }
    pairs.sort_by(|one, other| other.share.total_cmp(&one.share));
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(["exercise", "student", "like", "share", "same"])?;
    for pair in &pairs {
        let share = format!("{:.2}", pair.share);
        let same = if pair.is_same { "yes" } else { "no" };
        let other = pair.other.map_or("(solution)".to_owned(), plain);
        writer.write_record([pair.exercise, &plain(pair.one), &other, &share, same])?;
    }
    Ok((pairs.len(), String::from_utf8(writer.into_inner()?)?))
}

/// The pairs of an exercise.
fn alike<'a>(exercise: &'a Exercise, texts: &[(&'a str, String)]) -> Vec<Pair<'a>> {
    let (start, solution) = (tokens(exercise.start), tokens(exercise.solution));
    let known = prints(&start);
    let of_solution: BTreeSet<u64> = prints(&solution).difference(&known).copied().collect();
    let cut: Vec<_> = texts
        .iter()
        .map(|(student, text)| (*student, tokens(text)))
        .collect();
    let own: Vec<BTreeSet<u64>> = cut
        .iter()
        .map(|(_, tokens)| prints(tokens).difference(&known).copied().collect())
        .collect();
    let mut pairs = Vec::new();
    for (place, (one, tokens)) in cut.iter().enumerate() {
        let share = share(&own[place], &of_solution);
        let is_same = *tokens == solution;
        if is_same && of_solution.len() >= FEWEST || share >= SHARE_OF_SOLUTION {
            pairs.push(Pair {
                exercise: exercise.name,
                one,
                other: None,
                share,
                is_same,
            });
        }
    }
    // Who has a fingerprint that is nobody else's is compared with nobody for it.
    let mut common: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    let mut holders: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    let apart: Vec<BTreeSet<u64>> = own
        .iter()
        .map(|own| own.difference(&of_solution).copied().collect())
        .collect();
    for (place, prints) in apart.iter().enumerate() {
        for &print in prints {
            let others = holders.entry(print).or_default();
            for &other in others.iter() {
                *common.entry((other, place)).or_default() += 1;
            }
            others.push(place);
        }
    }
    for ((one, other), many) in common {
        let fewer = apart[one].len().min(apart[other].len());
        let share = many as f64 / fewer as f64;
        if many >= FEWEST && share >= SHARE {
            pairs.push(Pair {
                exercise: exercise.name,
                one: cut[one].0,
                other: Some(cut[other].0),
                share,
                is_same: cut[one].1 == cut[other].1,
            });
        }
    }
    pairs
}

/// What part of the first is in the second, where both are long enough to say.
fn share(one: &BTreeSet<u64>, other: &BTreeSet<u64>) -> f64 {
    if one.len() < FEWEST || other.len() < FEWEST {
        return 0.0;
    }
    one.intersection(other).count() as f64 / one.len() as f64
}

/// A text's tokens: words and single characters, without comments and blanks.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(within) = rest.strip_prefix("/*") {
            within.find("*/").map_or(rest.len(), |end| end + 4)
        } else if is_word(first) {
            rest.find(|letter| !is_word(letter)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (token, after) = rest.split_at(length);
        if !(first.is_whitespace() || token.starts_with("//") || token.starts_with("/*")) {
            tokens.push(token);
        }
        rest = after;
    }
    tokens
}

/// What a token counts as: words of the language are themselves, other names are all the same.
fn kind(token: &str) -> &str {
    const WORDS: [&str; 24] = [
        "for",
        "if",
        "else",
        "while",
        "return",
        "int",
        "float",
        "unsigned",
        "const",
        "__shared__",
        "__syncthreads",
        "threadIdx",
        "blockIdx",
        "blockDim",
        "gridDim",
        "x",
        "y",
        "z",
        "let",
        "fn",
        "mut",
        "match",
        "break",
        "continue",
    ];
    match token.chars().next() {
        Some(first) if first.is_ascii_digit() => "0",
        Some(first) if (first.is_alphabetic() || first == '_') && !WORDS.contains(&token) => "n",
        _ => token,
    }
}

/// The fingerprints of a text: of each window the least.
fn prints(tokens: &[&str]) -> BTreeSet<u64> {
    let kinds: Vec<&str> = tokens.iter().map(|token| kind(token)).collect();
    let all: Vec<u64> = kinds
        .windows(TOKENS)
        .map(|few| {
            let mut hasher = DefaultHasher::new();
            few.hash(&mut hasher);
            hasher.finish()
        })
        .collect();
    let least = all.windows(WINDOW.min(all.len().max(1)));
    least
        .filter_map(|window| window.iter().min().copied())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::course;

    /// An answer to 19 in a way of its own.
    const OWN: &str = "#include \"cuda_device.h\"\n
extern \"C\" __global__ void transpose(const float *in, float *out, int width, int height) {
    __shared__ float kept[1056];
    const int lane = threadIdx.x, row = threadIdx.y;
    for (int turn = 0; turn < 2; ++turn) {
        int a = turn == 0 ? blockIdx.x * 32 + lane : blockIdx.y * 32 + lane;
        int b = turn == 0 ? blockIdx.y * 32 + row : blockIdx.x * 32 + row;
        bool within = turn == 0 ? a < width && b < height : a < height && b < width;
        if (turn == 0 && within) kept[33 * row + lane] = in[(long)b * width + a];
        if (turn == 1 && within) out[(long)b * height + a] = kept[33 * lane + row];
        __syncthreads();
    }
}
";

    fn found(texts: &[(&'static str, String)]) -> Vec<(String, Option<String>, bool)> {
        let exercise = course::find("19").unwrap();
        let pairs = alike(exercise, texts);
        pairs
            .iter()
            .map(|it| (it.one.to_owned(), it.other.map(str::to_owned), it.is_same))
            .collect()
    }

    #[test]
    fn copies_are_found_and_right_answers_are_none() {
        let exercise = course::find("19").unwrap();
        let renamed = OWN
            .replace("kept", "tile")
            .replace("lane", "tx")
            .replace("within", "ok");
        let renamed = format!("// mine\n{}", renamed.replace("turn", "pass"));
        let all = [
            ("ann", OWN.to_owned()),
            ("bob", renamed),
            ("cal", exercise.start.to_owned()),
            ("dee", exercise.start.to_owned()),
        ];
        let pair =
            |one: &str, other: Option<&str>, same| (one.to_owned(), other.map(str::to_owned), same);
        assert_eq!(found(&all), [pair("ann", Some("bob"), false)]);
        let solution = format!("/* all my own work */ {}", exercise.solution);
        let all = [
            ("ann", solution.clone()),
            ("bob", solution),
            ("cal", OWN.to_owned()),
        ];
        assert_eq!(
            found(&all),
            [pair("ann", None, true), pair("bob", None, true)]
        );
    }

    #[test]
    fn comments_and_blanks_are_no_tokens() {
        assert_eq!(tokens("a /* b */+ c_1 // d\n;"), ["a", "+", "c_1", ";"]);
        assert_eq!(tokens("/* open"), Vec::<&str>::new());
        assert!(prints(&[]).is_empty() && prints(&["a"]).is_empty());
    }
}

//! Detection of similar submissions by winnowing their tokens (Schleimer, Wilkerson and Aiken, "Winnowing:
//! local algorithms for document fingerprinting", 2003).
//!
//! All names count as equal and so do all numbers; comments are ignored. Fingerprints of the start file are
//! removed, and fingerprints of the solution are removed too when two submissions are compared: two students
//! who solve an exercise in the obvious way have not copied from each other.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use anyhow::Result;
use chapter::lang::Lang;

use super::Submissions;
use super::tables::escape_formula;
use crate::course::Exercise;

/// Tokens per fingerprint.
const TOKENS_PER_FINGERPRINT: usize = 8;
/// Consecutive fingerprints from which winnowing keeps at least one.
const WINDOW: usize = 4;
/// The minimum number of fingerprints for a comparison; with fewer, any overlap may be chance.
const MIN_FINGERPRINTS: usize = 6;
/// The minimum share of common fingerprints for a pair to be reported.
const MIN_SHARE: f64 = 0.6;
/// The minimum share for a pair of a submission and the solution. Higher, because correct submissions
/// resemble the solution anyway.
const MIN_SHARE_OF_SOLUTION: f64 = 0.9;

/// Two similar submissions.
#[derive(Clone, Debug, PartialEq)]
struct Pair<'a> {
    exercise: &'a str,
    student: &'a str,
    /// The second student; `None` for the solution.
    other: Option<&'a str>,
    share: f64,
    /// True if the two differ only in comments and whitespace.
    is_same: bool,
}

/// Returns the number of similar pairs and a CSV table of them.
///
/// # Errors
///
/// Fails only if CSV cannot be written to memory.
pub fn copies(submissions: &Submissions, lang: Lang) -> Result<(usize, String)> {
    let mut pairs = Vec::new();
    for &exercise in &submissions.exercises {
        // Skip unreadable submissions: grading reports them as ungraded.
        let texts = submissions.students.iter().filter_map(|student| {
            let text = submissions.read(student, exercise, lang).ok().flatten();
            Some((student.as_str(), text?))
        });
        pairs.extend(similar_pairs(exercise, &texts.collect::<Vec<_>>()));
    }
    pairs.sort_by(|a, b| b.share.total_cmp(&a.share));
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(["exercise", "student", "like", "share", "same"])?;
    for pair in &pairs {
        let share = format!("{:.2}", pair.share);
        let same = if pair.is_same { "yes" } else { "no" };
        let other = pair.other.map_or("(solution)".to_owned(), escape_formula);
        writer.write_record([
            pair.exercise,
            &escape_formula(pair.student),
            &other,
            &share,
            same,
        ])?;
    }
    Ok((pairs.len(), String::from_utf8(writer.into_inner()?)?))
}

/// Returns the similar pairs among the submissions to one exercise.
fn similar_pairs<'a>(exercise: &'a Exercise, texts: &[(&'a str, String)]) -> Vec<Pair<'a>> {
    let (start, solution) = (tokens(exercise.start()), tokens(exercise.solution()));
    let start_prints = fingerprints(&start);
    let distinct = |tokens: &[&str]| &fingerprints(tokens) - &start_prints;
    let solution_prints = distinct(&solution);
    let tokenized = texts.iter().map(|(student, text)| (*student, tokens(text)));
    let tokenized: Vec<_> = tokenized.collect();
    let distinct_prints = tokenized.iter().map(|(_, tokens)| distinct(tokens));
    let distinct_prints: Vec<BTreeSet<u64>> = distinct_prints.collect();
    let mut pairs = Vec::new();
    for (index, (student, tokens)) in tokenized.iter().enumerate() {
        let share = share(&distinct_prints[index], &solution_prints);
        let is_same = *tokens == solution;
        if is_same && solution_prints.len() >= MIN_FINGERPRINTS || share >= MIN_SHARE_OF_SOLUTION {
            pairs.push(Pair {
                exercise: exercise.name(),
                student,
                other: None,
                share,
                is_same,
            });
        }
    }
    // Index students by fingerprint, so that only students with a common fingerprint are compared.
    let mut overlaps: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    let mut holders: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    let distinctive = distinct_prints
        .iter()
        .map(|prints| prints - &solution_prints);
    let distinctive: Vec<BTreeSet<u64>> = distinctive.collect();
    for (index, fingerprints) in distinctive.iter().enumerate() {
        for &fingerprint in fingerprints {
            let others = holders.entry(fingerprint).or_default();
            for &other in others.iter() {
                *overlaps.entry((other, index)).or_default() += 1;
            }
            others.push(index);
        }
    }
    for ((student, other), common_count) in overlaps {
        let smaller = distinctive[student].len().min(distinctive[other].len());
        let share = common_count as f64 / smaller as f64;
        if common_count >= MIN_FINGERPRINTS && share >= MIN_SHARE {
            pairs.push(Pair {
                exercise: exercise.name(),
                student: tokenized[student].0,
                other: Some(tokenized[other].0),
                share,
                is_same: tokenized[student].1 == tokenized[other].1,
            });
        }
    }
    pairs
}

/// Returns the share of the first set's fingerprints that the second contains; 0 if either has too few to
/// compare.
fn share(first: &BTreeSet<u64>, second: &BTreeSet<u64>) -> f64 {
    if first.len() < MIN_FINGERPRINTS || second.len() < MIN_FINGERPRINTS {
        return 0.0;
    }
    first.intersection(second).count() as f64 / first.len() as f64
}

/// Splits a text into tokens (words and single characters), dropping comments and whitespace.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = |character: char| character.is_alphanumeric() || character == '_';
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(within) = rest.strip_prefix("/*") {
            within.find("*/").map_or(rest.len(), |end| end + 4)
        } else if is_word(first) {
            rest.find(|character| !is_word(character))
                .unwrap_or(rest.len())
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

/// Returns the class that a token is compared by: keywords stand for themselves, all other names are equal,
/// and so are all numbers.
fn token_class(token: &str) -> &str {
    const KEYWORDS: &str = "for if else while return int float unsigned const __shared__ __syncthreads threadIdx \
                            blockIdx blockDim gridDim x y z let fn mut match break continue";
    let is_keyword = || KEYWORDS.split(' ').any(|keyword| keyword == token);
    match token.chars().next() {
        Some(first) if first.is_ascii_digit() => "0",
        Some(first) if (first.is_alphabetic() || first == '_') && !is_keyword() => "n",
        _ => token,
    }
}

/// Returns the fingerprints of a text: the minimum hash of each window.
fn fingerprints(tokens: &[&str]) -> BTreeSet<u64> {
    let kinds: Vec<&str> = tokens.iter().map(|token| token_class(token)).collect();
    let hashes: Vec<u64> = kinds
        .windows(TOKENS_PER_FINGERPRINT)
        .map(|group| {
            let mut hasher = DefaultHasher::new();
            group.hash(&mut hasher);
            hasher.finish()
        })
        .collect();
    let minima = hashes.windows(WINDOW.min(hashes.len().max(1)));
    minima
        .filter_map(|window| window.iter().min().copied())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::course::Course;

    /// A submission to exercise 19 that differs from the solution.
    const SUBMISSION: &str = "#include \"cuda_device.h\"\n
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

    fn pairs_of(texts: &[(&'static str, String)]) -> Vec<(String, Option<String>, bool)> {
        let course = Course::built_in().unwrap();
        let exercise = course.find("19").unwrap();
        let pairs = similar_pairs(exercise, texts).into_iter();
        let owned = |name: &str| name.to_owned();
        let pairs = pairs.map(|pair| (owned(pair.student), pair.other.map(owned), pair.is_same));
        pairs.collect()
    }

    #[test]
    fn copies_are_found_and_independent_submissions_are_not() {
        let course = Course::built_in().unwrap();
        let exercise = course.find("19").unwrap();
        let renamed = SUBMISSION
            .replace("kept", "tile")
            .replace("lane", "tx")
            .replace("within", "ok");
        let renamed = format!("// mine\n{}", renamed.replace("turn", "pass"));
        let texts = [
            ("ann", SUBMISSION.to_owned()),
            ("bob", renamed),
            ("cal", exercise.start().to_owned()),
            ("dee", exercise.start().to_owned()),
        ];
        let pair = |student: &str, other: Option<&str>, same| {
            (student.to_owned(), other.map(str::to_owned), same)
        };
        assert_eq!(pairs_of(&texts), [pair("ann", Some("bob"), false)]);
        let solution = format!("/* all my own work */ {}", exercise.solution());
        let texts = [
            ("ann", solution.clone()),
            ("bob", solution),
            ("cal", SUBMISSION.to_owned()),
        ];
        assert_eq!(
            pairs_of(&texts),
            [pair("ann", None, true), pair("bob", None, true)]
        );
    }

    #[test]
    fn comments_and_whitespace_are_skipped() {
        assert_eq!(tokens("a /* b */+ c_1 // d\n;"), ["a", "+", "c_1", ";"]);
        assert_eq!(tokens("/* open"), Vec::<&str>::new());
        assert!(fingerprints(&[]).is_empty() && fingerprints(&["a"]).is_empty());
    }
}

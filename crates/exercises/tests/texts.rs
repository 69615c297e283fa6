//! Completeness of every exercise: both languages, wrong submissions, and consistent data.

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use chapter::lang::Lang;
use exercises::data::{Kind, Step};
use exercises::report;
use exercises::text::{WIDTH, columns};
use exercises::workspace::Progress;
use support::submissions::folder;
use support::{COURSE, EXERCISES, find};

const CRATE_DIR: &str = env!("CARGO_MANIFEST_DIR");

/// Returns true if a text is Chinese.
fn is_chinese(text: &str) -> bool {
    let is_han = |c: char| ('\u{4e00}'..='\u{9fff}').contains(&c);
    text.chars().filter(|&c| is_han(c)).count() >= 4
}

fn names_in(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    entries
        .map(|entry| entry.expect("an entry").file_name())
        .map(|name| name.into_string().expect("a name in UTF-8"))
        .collect()
}

#[test]
fn every_exercise_folder_is_in_the_course() {
    let folder = Path::new(CRATE_DIR).join("../../kernels/exercises");
    let mut folders = names_in(&folder);
    folders.remove("README.md");
    let names: BTreeSet<String> = EXERCISES
        .iter()
        .map(|exercise| exercise.name().to_owned())
        .collect();
    assert_eq!(folders, names);
    for name in &names {
        assert!(folder.join(name).join("wrong").is_dir(), "{name}");
    }
}

#[test]
fn exercises_are_ordered_and_found_by_number_and_name() {
    let names: Vec<&str> = EXERCISES.iter().map(|exercise| exercise.name()).collect();
    assert!(names.is_sorted(), "{names:?}");
    for exercise in EXERCISES.iter() {
        let (number, name) = exercise
            .name()
            .split_once('-')
            .expect("a number and a name");
        let unpadded = number.trim_start_matches('0');
        for query in [number, unpadded, name, exercise.name(), &exercise.file()] {
            let found = find(query).map(|found| found.name());
            assert_eq!(found, Some(exercise.name()), "{query}");
        }
    }
    for none in ["", "0", "99", "no-such", "-1", "1.0"] {
        assert!(find(none).is_none(), "{none}");
    }
}

#[test]
fn every_exercise_has_consistent_data_in_both_languages() {
    for exercise in EXERCISES.iter() {
        let name = exercise.name();
        let data = exercise.data();
        let chapter = Path::new(CRATE_DIR)
            .join("..")
            .join(&data.chapter)
            .join("README.md");
        assert!(chapter.is_file(), "{name}: no chapter {}", data.chapter);
        let texts_of_targets = data.targets.iter().map(|target| &target.say);
        for text in texts_of_targets.chain(&data.hints).chain([&data.title]) {
            assert!(
                !text.en.trim().is_empty() && !is_chinese(&text.en),
                "{name}: {text:?}"
            );
            let title = std::ptr::eq(text, &data.title);
            assert!(is_chinese(&text.zh) || title, "{name}: {text:?}");
        }
        assert!(!data.title.zh.is_ascii(), "{name}: {:?}", data.title);
        let after = data.after.as_ref().expect("the alternatives");
        assert!(
            !after.en.is_empty() && is_chinese(&after.zh),
            "{name}: {after:?}"
        );
        for needed in &data.needs {
            let before = find(needed).map(|before| before.name());
            assert!(
                before.is_some_and(|before| before < name),
                "{name}: {needed}"
            );
        }
        assert_ne!(data.rejected_at, Step::Time, "{name}");
        let counted = [Kind::Coalesce, Kind::Banks, Kind::Constant, Kind::Limit];
        let has_target = !data.targets.is_empty();
        assert!(
            has_target || !counted.contains(&data.kind),
            "{name} has no target"
        );
    }
}

#[test]
fn every_statement_exists_in_both_languages() {
    for exercise in EXERCISES.iter() {
        let name = exercise.name();
        let data = exercise.data();
        for lang in [Lang::En, Lang::Zh] {
            let text = exercise.statement(lang);
            let title = format!("# {}", data.title.get(lang));
            assert_eq!(text.lines().next(), Some(title.as_str()), "{name}");
            assert!(
                text.contains(&data.chapter),
                "{name} does not name its chapter"
            );
            let lines = text.lines().count();
            assert!((8..=30).contains(&lines), "{name}: {lines} lines");
            assert_eq!(is_chinese(text), lang == Lang::Zh, "{name}");
        }
    }
}

/// Returns the links of a text as words and targets, and the text without them.
fn links(text: &str) -> (Vec<(&str, &str)>, String) {
    let (mut found, mut context) = (Vec::new(), String::new());
    let mut parts = text.split('[');
    context += parts.next().unwrap_or_default();
    for part in parts {
        match part
            .split_once("](")
            .and_then(|(words, rest)| Some((words, rest.split_once(')')?)))
        {
            Some((words, (target, following))) => {
                found.push((words, target));
                context += following;
            }
            None => context += part,
        }
    }
    (found, context)
}

#[test]
fn citations_in_statements_are_links() {
    for exercise in EXERCISES.iter() {
        let name = exercise.name();
        let folder = folder(exercise);
        let chapter = &exercise.data().chapter;
        for (lang, pages, quoted) in [
            (
                Lang::En,
                "../../../docs/pages/en/",
                ["the note on", "hared memory\""],
            ),
            (Lang::Zh, "../../../docs/pages/zh/", ["笔记中的“", "一节"]),
        ] {
            let text = exercise.statement(lang);
            let opening = text.split("\n\n").nth(1).expect("a paragraph");
            let (links, context) = links(opening);
            let first = (format!("`{chapter}`"), format!("{pages}{chapter}.md"));
            assert_eq!(
                links
                    .first()
                    .map(|&(words, target)| (words.to_owned(), target.to_owned())),
                Some(first),
                "{name}"
            );
            for &(words, target) in &links {
                let file = target.split('#').next().unwrap_or_default();
                assert!(
                    target.starts_with(pages) && folder.join(file).is_file(),
                    "{name}: {target}"
                );
                let is_note = target.contains("/listings.md#");
                assert_eq!(is_note, !words.starts_with('`'), "{name}: {words} {target}");
            }
            for cite in quoted {
                assert!(!context.contains(cite), "{name}: {cite} is no link");
            }
            let printed = report::statement(&COURSE, exercise, &Progress::default(), lang);
            let without_markup = |text: &str| text.split_whitespace().collect::<String>();
            for (words, target) in links {
                let [open, close] = lang.pick(["(", ")"], ["（", "）"]);
                let file = target.split('#').next().unwrap_or_default();
                let expected = format!("{words}{open}{}{close}", file.trim_start_matches("../"));
                assert!(
                    without_markup(&printed).contains(&without_markup(&expected)),
                    "{name}: no {expected} in {printed}"
                );
            }
            assert!(!printed.contains("]("), "{name}: {printed}");
            assert!(
                printed.lines().all(|line| columns(line) <= WIDTH),
                "{name}: {printed}"
            );
        }
    }
}

#[test]
fn every_exercise_has_wrong_submissions() {
    for exercise in EXERCISES.iter() {
        let folder = folder(exercise).join("wrong");
        let files = names_in(&folder);
        assert!(files.len() >= 2, "{}: {files:?}", exercise.name());
        let ending = format!(".{}", exercise.extension());
        let all = files.iter().all(|file| file.ends_with(&ending));
        assert!(all, "{}: {files:?}", exercise.name());
    }
}

#[test]
fn start_files_have_a_todo_and_solutions_have_none() {
    for exercise in EXERCISES.iter() {
        assert!(exercise.start().contains("TODO"), "{}", exercise.name());
        assert!(!exercise.solution().contains("TODO"), "{}", exercise.name());
        assert_ne!(exercise.start(), exercise.solution());
    }
}

#[test]
fn statements_name_the_largest_sizes() {
    for exercise in EXERCISES.iter() {
        for lang in [Lang::En, Lang::Zh] {
            let statement = exercise.statement(lang);
            for &limit in &exercise.data().sizes.at_most {
                let limit = limit * exercise.data().sizes.unit.unwrap_or(1);
                let digits: String = statement
                    .chars()
                    .filter(|c| !c.is_whitespace() && *c != '\u{a0}')
                    .collect();
                assert!(
                    digits.contains(&limit.to_string()),
                    "{}: {limit}",
                    exercise.name()
                );
            }
        }
    }
}

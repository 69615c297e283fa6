//! Completeness of every exercise: both languages, wrong submissions, and consistent data.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use exercises::course::{self, EXERCISES};
use exercises::data::{Kind, Step};
use exercises::lang::Lang;
use exercises::progress::Progress;
use exercises::report;
use exercises::text::columns;

const HERE: &str = env!("CARGO_MANIFEST_DIR");

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
fn what_is_in_the_folder_is_in_the_course() {
    let folder = Path::new(HERE).join("../../kernels/exercises");
    let mut folders = names_in(&folder);
    folders.remove("README.md");
    let names: BTreeSet<String> = EXERCISES
        .iter()
        .map(|exercise| exercise.name.to_owned())
        .collect();
    assert_eq!(folders, names);
    let wrong = names_in(&Path::new(HERE).join("tests/wrong"));
    assert_eq!(wrong, names);
}

#[test]
fn they_are_in_order_and_found_by_number_and_name() {
    let names: Vec<&str> = EXERCISES.iter().map(|exercise| exercise.name).collect();
    assert!(names.is_sorted(), "{names:?}");
    for exercise in &EXERCISES {
        let (number, name) = exercise.name.split_once('-').expect("a number and a name");
        let unpadded = number.trim_start_matches('0');
        for query in [number, unpadded, name, exercise.name, &exercise.file()] {
            let found = course::find(query).map(|found| found.name);
            assert_eq!(found, Some(exercise.name), "{query}");
        }
    }
    for none in ["", "0", "99", "no-such", "-1", "1.0"] {
        assert!(course::find(none).is_none(), "{none}");
    }
}

#[test]
fn their_data_makes_sense_in_both_languages() {
    for exercise in &EXERCISES {
        let name = exercise.name;
        let data = exercise.data().unwrap_or_else(|error| panic!("{error:#}"));
        let chapter = Path::new(HERE)
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
        let after = data.after.as_ref().expect("what else would have done");
        assert!(
            !after.en.is_empty() && is_chinese(&after.zh),
            "{name}: {after:?}"
        );
        for needed in &data.needs {
            let before = course::find(needed).map(|before| before.name);
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
fn their_statements_are_there_in_both_languages() {
    for exercise in &EXERCISES {
        let name = exercise.name;
        let data = exercise.data().unwrap_or_else(|error| panic!("{error:#}"));
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
    let (mut found, mut around) = (Vec::new(), String::new());
    let mut parts = text.split('[');
    around += parts.next().unwrap_or_default();
    for part in parts {
        match part
            .split_once("](")
            .and_then(|(words, rest)| Some((words, rest.split_once(')')?)))
        {
            Some((words, (target, behind))) => {
                found.push((words, target));
                around += behind;
            }
            None => around += part,
        }
    }
    (found, around)
}

#[test]
fn what_a_statement_cites_is_a_link() {
    for exercise in &EXERCISES {
        let name = exercise.name;
        let folder = Path::new(HERE).join("../../kernels/exercises").join(name);
        let chapter = &exercise.data().expect("right").chapter;
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
            let (links, around) = links(opening);
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
                assert!(!around.contains(cite), "{name}: {cite} is no link");
            }
            let shown = report::statement(exercise, &Progress::default(), lang);
            let bare = |text: &str| text.split_whitespace().collect::<String>();
            for (words, target) in links {
                let [open, close] = lang.pick(["(", ")"], ["（", "）"]);
                let file = target.split('#').next().unwrap_or_default();
                let expected = format!("{words}{open}{}{close}", file.trim_start_matches("../"));
                assert!(
                    bare(&shown).contains(&bare(&expected)),
                    "{name}: no {expected} in {shown}"
                );
            }
            assert!(!shown.contains("]("), "{name}: {shown}");
            assert!(
                shown.lines().all(|line| columns(line) <= report::WIDTH),
                "{name}: {shown}"
            );
        }
    }
}

#[test]
fn there_are_wrong_answers_to_each() {
    for exercise in &EXERCISES {
        let folder = Path::new(HERE).join("tests/wrong").join(exercise.name);
        let files = names_in(&folder);
        assert!(files.len() >= 2, "{}: {files:?}", exercise.name);
        let ending = format!(".{}", exercise.extension());
        let all = files.iter().all(|file| file.ends_with(&ending));
        assert!(all, "{}: {files:?}", exercise.name);
    }
}

#[test]
fn start_files_say_what_to_do_and_solutions_have_nothing_left() {
    for exercise in &EXERCISES {
        assert!(exercise.start.contains("TODO"), "{}", exercise.name);
        assert!(!exercise.solution.contains("TODO"), "{}", exercise.name);
        assert_ne!(exercise.start, exercise.solution);
    }
}

//! The book's figures: fit to be put into a page, and kept in step with what is committed.

use std::collections::BTreeSet;
use std::fs;

use patterns::figures;
use roxmltree::Document;

#[test]
fn figures_are_fit_for_a_page() {
    let files = figures::all().expect("all are drawn");
    assert!(!files.is_empty());
    for (file, drawn) in &files {
        let name = file.split('.').next().expect("a name");
        // Markdown would end the element at an empty line.
        assert!(drawn.starts_with("<svg "), "{file}");
        assert!(!drawn.contains("\n\n"), "{file} has an empty line");
        let document = Document::parse(drawn).unwrap_or_else(|error| panic!("{file}: {error}"));
        let root = document.root_element();
        assert_eq!(root.attribute("role"), Some("img"), "{file}");
        let by = root.attribute("aria-labelledby").expect("labels");
        let ids: Vec<&str> = document
            .descendants()
            .filter_map(|node| node.attribute("id"))
            .collect();
        assert_eq!(ids.join(" "), by, "{file}");
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
        assert!(ids.iter().all(|id| id.starts_with(name)), "{file}");
        for tag in ["title", "desc"] {
            let node = root.children().find(|node| node.has_tag_name(tag));
            let text = node.and_then(|node| node.text());
            assert!(text.is_some_and(|text| text.len() > 9), "{file}: {tag}");
        }
    }
}

#[test]
fn languages_differ_in_words_alone() {
    let files = figures::all().expect("all are drawn");
    let shapes = |file: &str| {
        let (_, drawn) = files.iter().find(|(name, _)| name == file).expect(file);
        drawn.matches("<path ").count() + drawn.matches("<rect ").count()
    };
    for (english, _) in files.iter().filter(|(name, _)| name.ends_with(".en.svg")) {
        let chinese = english.replace(".en.", ".zh.");
        assert_eq!(shapes(english), shapes(&chinese), "{english}");
    }
}

#[test]
fn stale_figures_are_found_and_drawn_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().join("figures");
    let files = [
        ("one.en.svg".to_owned(), "<svg/>\n".to_owned()),
        ("two.en.svg".to_owned(), "<svg/>\n".to_owned()),
    ];
    assert_eq!(figures::stale(&folder, &files).unwrap().len(), 2);
    figures::write(&folder, &files).unwrap();
    assert_eq!(figures::stale(&folder, &files).unwrap(), [""; 0]);
    fs::write(folder.join("two.en.svg"), "<svg></svg>\n").unwrap();
    fs::write(folder.join("old.en.svg"), "<svg/>\n").unwrap();
    fs::write(folder.join("README.md"), "not a figure").unwrap();
    assert_eq!(
        figures::stale(&folder, &files).unwrap(),
        ["old.en.svg", "two.en.svg"]
    );
    figures::write(&folder, &files).unwrap();
    assert_eq!(figures::stale(&folder, &files).unwrap(), [""; 0]);
    assert!(folder.join("README.md").exists());
}

//! Tests that the book's figures can be embedded in a page, and that stale figures are found.

use std::collections::BTreeSet;
use std::fs;

use patterns::figures;
use roxmltree::Document;

#[test]
fn figures_can_be_embedded_in_a_page() {
    let files = figures::all().expect("all are drawn");
    assert!(!files.is_empty());
    for (file, content) in &files {
        let name = file.split('.').next().expect("a name");
        // Markdown would end the element at an empty line.
        assert!(content.starts_with("<svg "), "{file}");
        assert!(!content.contains("\n\n"), "{file} has an empty line");
        // librsvg and PDF converters do not support CSS variables.
        assert!(!content.contains("var("), "{file}");
        let document = Document::parse(content).unwrap_or_else(|error| panic!("{file}: {error}"));
        let root = document.root_element();
        assert_eq!(root.attribute("role"), Some("img"), "{file}");
        let labels = root.attribute("aria-labelledby").expect("labels");
        let ids: Vec<&str> = document
            .descendants()
            .filter_map(|node| node.attribute("id"))
            .collect();
        assert_eq!(ids.join(" "), labels, "{file}");
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
fn figures_have_the_same_shapes_in_both_languages() {
    let files = figures::all().expect("all are drawn");
    let shapes = |file: &str| {
        let (_, content) = files.iter().find(|(name, _)| name == file).expect(file);
        content.matches("<path ").count() + content.matches("<rect ").count()
    };
    for (english, _) in files.iter().filter(|(name, _)| name.ends_with(".en.svg")) {
        let chinese = english.replace(".en.", ".zh.");
        assert_eq!(shapes(english), shapes(&chinese), "{english}");
    }
}

#[test]
fn stale_figures_are_found_and_redrawn() {
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

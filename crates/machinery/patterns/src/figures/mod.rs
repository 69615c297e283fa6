//! The figures of the book's pages: most from a launch on the simulator, two from what it knows of a GPU.

mod constant;
mod halo;
mod hierarchy;
mod ladder;
mod machine;
mod memories;
mod sectors;
mod shared;
mod tile;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::language::Language;

type Draw = fn(Language) -> Result<String>;

/// Each figure by its name.
const FIGURES: &[(&str, Draw)] = &[
    ("machine", machine::machine),
    ("hierarchy", hierarchy::hierarchy),
    ("memories", memories::memories),
    ("sectors-coalesced", sectors::coalesced),
    ("sectors-offset", sectors::offset),
    ("sectors-stride", sectors::stride),
    ("pitch", sectors::pitch),
    ("tile", tile::tile),
    ("banks", shared::banks),
    ("constant-patterns", constant::patterns),
    ("spheres", constant::spheres),
    ("halo", halo::halo),
    ("ladder-link", ladder::time::link),
    ("ladder-parts", ladder::parts::pitched),
    ("ladder-squares", ladder::parts::squares),
    ("ladder-warp-tiles", ladder::parts::warp_tiles),
    ("ladder-buffers", ladder::time::buffers),
    ("ladder-shares", ladder::time::shares),
    ("ladder-mma", ladder::mma::mma),
    ("ladder-swapped", ladder::rows::swapped),
    ("ladder-kept", ladder::kept::kept),
    ("ladder-scattered", ladder::scattered::scattered),
    ("ladder-pixels", ladder::parts::pixels),
    ("ladder-outlines", ladder::spheres::outlines),
    ("ladder-culled", ladder::spheres::culled),
    ("ladder-points", ladder::points::points),
];

/// Every figure in both languages: the file's name, and what is in it.
pub fn all() -> Result<Vec<(String, String)>> {
    let mut files = Vec::new();
    for &(name, draw) in FIGURES {
        for language in Language::ALL {
            let file = format!("{name}.{}.svg", language.code());
            let drawn = draw(language).with_context(|| format!("cannot draw {file}"))?;
            files.push((file, drawn));
        }
    }
    Ok(files)
}

/// Writes the files into a folder, those that differ.
pub fn write(folder: &Path, files: &[(String, String)]) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    for name in stale(folder, files)? {
        let path = folder.join(&name);
        let drawn = files.iter().find(|(file, _)| *file == name);
        let done = match drawn {
            Some((_, drawn)) => fs::write(&path, drawn),
            None => fs::remove_file(&path),
        };
        done.with_context(|| format!("cannot write {}", path.display()))?;
        println!("{}", path.display());
    }
    Ok(())
}

/// The files of a folder that are not as they would be drawn, and drawings nobody draws.
pub fn stale(folder: &Path, files: &[(String, String)]) -> Result<Vec<String>> {
    let mut stale = BTreeSet::new();
    for (name, drawn) in files {
        if fs::read_to_string(folder.join(name)).ok().as_ref() != Some(drawn) {
            stale.insert(name.clone());
        }
    }
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(_) => return Ok(stale.into_iter().collect()),
    };
    for entry in entries {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".svg") && !files.iter().any(|(file, _)| *file == name) {
            stale.insert(name);
        }
    }
    Ok(stale.into_iter().collect())
}

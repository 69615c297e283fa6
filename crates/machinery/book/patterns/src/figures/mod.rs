//! The figures of the book's pages. Most show a launch on the simulator; the others show properties of the
//! GPU or schematic timelines.

mod constant;
mod curves;
mod loads;
mod matmul;
mod memories;
mod parts;
mod sectors;
mod spheres;
mod stencil;
mod time;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::language::Language;

type Draw = fn(Language) -> Result<String>;

/// All figures, by name.
const FIGURES: &[(&str, Draw)] = &[
    ("overview", sectors::overview),
    ("machine", memories::machine),
    ("hierarchy", memories::hierarchy),
    ("memories", memories::memories),
    ("sectors-coalesced", sectors::coalesced),
    ("sectors-offset", sectors::offset),
    ("sectors-stride", sectors::stride),
    ("pitch", sectors::pitch),
    ("row-column", matmul::row_column),
    ("tile", matmul::tile),
    ("banks", sectors::banks),
    ("constant-patterns", constant::patterns),
    ("rays", spheres::rays),
    ("spheres", constant::spheres),
    ("halo", stencil::halo),
    ("curve-offset", curves::offset),
    ("curve-stride", curves::stride),
    ("curve-addresses", curves::addresses),
    ("curve-footprint", curves::footprint),
    ("curve-banks", curves::banks),
    ("ladder-link", time::link),
    ("ladder-parts", parts::pitched),
    ("ladder-squares", parts::squares),
    ("ladder-warp-tiles", parts::warp_tiles),
    ("ladder-buffers", time::buffers),
    ("ladder-shares", time::stream_k),
    ("ladder-mma", parts::mma),
    ("ladder-swapped", loads::swapped),
    ("ladder-kept", loads::register_reuse),
    ("ladder-scattered", loads::scattered),
    ("ladder-pixels", parts::pixels),
    ("ladder-outlines", spheres::outlines),
    ("ladder-culled", spheres::culled),
    ("ladder-points", stencil::points),
];

/// Draws every figure in both languages. Returns the names and contents of the files.
pub fn all() -> Result<Vec<(String, String)>> {
    let mut files = Vec::new();
    for &(name, draw) in FIGURES {
        for language in Language::ALL {
            let file = format!("{name}.{}.svg", language.code());
            let content = draw(language).with_context(|| format!("cannot draw {file}"))?;
            files.push((file, content));
        }
    }
    Ok(files)
}

/// Writes those files that differ into a folder, and removes drawings that are no longer in use.
pub fn write(folder: &Path, files: &[(String, String)]) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    for name in stale(folder, files)? {
        let path = folder.join(&name);
        let content = files.iter().find(|(file, _)| *file == name);
        let result = match content {
            Some((_, content)) => fs::write(&path, content),
            None => fs::remove_file(&path),
        };
        result.with_context(|| format!("cannot write {}", path.display()))?;
        println!("{}", path.display());
    }
    Ok(())
}

/// Returns the names of files that are missing, differ or are no longer in use.
pub fn stale(folder: &Path, files: &[(String, String)]) -> Result<Vec<String>> {
    let mut stale = BTreeSet::new();
    for (name, content) in files {
        if fs::read_to_string(folder.join(name)).ok().as_ref() != Some(content) {
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

//! Paths of source files relative to the root of the source tree, as services expect them.

use std::path::{Component, Path, PathBuf};
use std::{env, path};

/// The root of the source tree.
pub struct SourceRoot(PathBuf);

impl SourceRoot {
    /// Returns the checkout of a GitHub workflow if the working directory is in it, otherwise the working directory.
    pub fn new() -> SourceRoot {
        let current = env::current_dir().unwrap_or_default();
        let workspace = env::var_os("GITHUB_WORKSPACE").map(PathBuf::from);
        let workspace =
            workspace.filter(|workspace| workspace.is_absolute() && current.starts_with(workspace));
        SourceRoot(workspace.unwrap_or(current))
    }

    /// Returns the path of a file relative to the root, with `/` between its components; an absolute path if the file
    /// is outside.
    pub fn relative(&self, file: &str) -> String {
        let file = normalized(&path::absolute(file).unwrap_or_else(|_| file.into()));
        let file = file.strip_prefix(&self.0).unwrap_or(&file);
        file.to_string_lossy().replace('\\', "/")
    }
}

/// Removes the components `.` and `..`.
fn normalized(path: &Path) -> PathBuf {
    let mut normalized = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normalized.pop();
            }
            _ => normalized.push(component),
        }
    }
    normalized
}

/// Converts a path to a URI: a relative reference, or an absolute one for an absolute path.
pub fn uri(path: &str) -> String {
    let mut uri = match path {
        _ if path.starts_with('/') => "file://".to_owned(),
        _ if path.contains(':') => "file:///".to_owned(),
        _ => String::new(),
    };
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(byte.into());
            }
            _ => uri += &format!("%{byte:02X}"),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_to_the_root() {
        let root = SourceRoot(env::current_dir().unwrap());
        assert_eq!(root.relative("./a/../b/c.cu"), "b/c.cu");
        let inside = root.0.join("d.cu");
        assert_eq!(root.relative(inside.to_str().unwrap()), "d.cu");
    }

    #[test]
    fn special_characters_are_encoded() {
        assert_eq!(uri("my kernels/核.cu"), "my%20kernels/%E6%A0%B8.cu");
        assert_eq!(uri("/usr/a#.h"), "file:///usr/a%23.h");
    }
}

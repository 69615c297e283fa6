//! The comment at the top of every PTX file, with its sources' hash and its compiler.

const SOURCES: &str = "// sources sha256 ";
const COMPILER: &str = "// compiler ";

/// Prepends the stamp to newly compiled `ptx`. `source_path` is the kernel's file, `compiler` its name and
/// version.
pub fn stamp(source_path: &str, hash: &str, compiler: &str, ptx: &str) -> String {
    format!(
        "// {source_path}, compiled; edit that instead\n{SOURCES}{hash}\n{COMPILER}{compiler}\n{ptx}"
    )
}

/// Returns the source hash in a stamp, or `None` if there is no stamp.
pub fn hash(ptx: &str) -> Option<&str> {
    let mut lines = ptx.lines().take_while(|line| line.starts_with("//"));
    lines
        .find_map(|line| line.strip_prefix(SOURCES))
        .map(str::trim_end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_read_back() {
        let text = stamp("kernels/a.cu", "0f1e", "clang 14.0.6", ".version 6.4\n");
        assert_eq!(hash(&text), Some("0f1e"));
        assert!(text.ends_with("// compiler clang 14.0.6\n.version 6.4\n"));
        assert_eq!(hash(&text.replace('\n', "\r\n")), Some("0f1e"));
    }

    #[test]
    fn only_the_first_comment_is_a_stamp() {
        assert_eq!(hash(""), None);
        assert_eq!(hash(".version 6.4\n// sources sha256 0f1e\n"), None);
    }
}

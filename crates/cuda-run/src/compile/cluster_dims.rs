//! `__cluster_dims__`: the cluster size of a kernel, for which clang before version 22 has no attribute.
//!
//! In a pass that writes LLVM code, the headers make it an annotation, whose arguments the compiler evaluates. The kernel's
//! definition in PTX gets the directives of that size. The pass that writes PTX has no annotations, because clang declares
//! annotated kernels twice.

use std::collections::HashMap;

use cuda_driver::CallSite;

use super::scan::is_name_char;

/// The compiler's argument that turns `__cluster_dims__` into annotations.
pub const ANNOTATE: &str = "-DWARPBOOK_ANNOTATE_CLUSTER_DIMS";

/// The annotation in `crt/host_defines.h`, as LLVM code spells it.
const ANNOTATION: &str = "c\"warpbook_cluster_dims\\00\"";

/// Returns true if a source text may specify the size of clusters.
pub fn is_mentioned(source: &[u8]) -> bool {
    String::from_utf8_lossy(source).contains("__cluster_dims__")
}

/// The cluster size of a kernel.
#[derive(Debug, PartialEq, Eq)]
pub struct ClusterDims {
    pub kernel: String,
    pub dims: [u32; 3],
    /// The place of the attribute.
    pub location: CallSite,
}

/// Returns the cluster sizes of the kernels in LLVM code.
pub fn of_code(code: &str) -> Vec<ClusterDims> {
    let is_list = |line: &&str| line.starts_with("@llvm.global.annotations = ");
    let Some((_, list)) = (code.lines().find(is_list)).and_then(|line| line.split_once(" ["))
    else {
        return Vec::new();
    };
    let definitions: HashMap<&str, &str> = (code.lines())
        .filter_map(|line| line.strip_prefix('@')?.split_once(" = "))
        .collect();
    // Each element names the function, the annotation, the file and, after the line, the arguments.
    let mentions: Vec<(&str, &str)> = (list.split('@').skip(1))
        .map(|text| {
            text.split_at(
                text.find(|c| !is_name_char(c) && c != '.')
                    .unwrap_or(text.len()),
            )
        })
        .collect();
    let elements = mentions.windows(4).filter_map(|element| {
        let [(kernel, _), (annotation, _), (file, line), (args, _)] = element else {
            return None;
        };
        if !definitions.get(annotation)?.contains(ANNOTATION) {
            return None;
        }
        let line = line.split("i32 ").find_map(leading_number);
        Some(ClusterDims {
            kernel: (*kernel).to_owned(),
            dims: parse_dims(definitions.get(args)?),
            location: CallSite {
                file: string_constant(definitions.get(file)?),
                line: line.unwrap_or(0),
            },
        })
    });
    elements.collect()
}

/// Removes the annotations from LLVM code.
pub fn without_annotations(code: &str) -> String {
    let lines = code.split_inclusive('\n');
    let lines = lines.filter(|line| !line.starts_with("@llvm.global.annotations = "));
    lines.collect()
}

/// Adds the directives of the cluster sizes to the definitions of these kernels.
pub fn add_directives(ptx: &str, kernels: &[ClusterDims]) -> String {
    let mut patched = ptx.to_owned();
    for ClusterDims { kernel, dims, .. } in kernels {
        let Some(start) = patched.find(&format!(".entry {kernel}(")) else {
            continue;
        };
        if let Some(body) = patched[start..].find("\n{") {
            let [x, y, z] = dims;
            let directives = format!("\n.explicitcluster\n.reqnctapercluster {x}, {y}, {z}");
            patched.insert_str(start + body, &directives);
        }
    }
    patched
}

/// Returns the integers of a constant such as `constant { i32, i32 } { i32 2, i32 1 }`. Missing ones are 1.
fn parse_dims(constant: &str) -> [u32; 3] {
    let mut dims = [1; 3];
    let values = constant.rsplit_once('{').map_or("", |(_, values)| values);
    let values = values.split('}').next().unwrap_or_default();
    for (dim, value) in dims.iter_mut().zip(values.split(',')) {
        let number = value
            .trim()
            .split_once(' ')
            .and_then(|(_, value)| leading_number(value));
        *dim = number.unwrap_or(0);
    }
    dims
}

fn leading_number(text: &str) -> Option<u32> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    text[..end].parse().ok()
}

/// Returns the text of a string constant: `constant [5 x i8] c"a.cu\00"`.
fn string_constant(constant: &str) -> String {
    let text = constant.split_once("c\"").map_or("", |(_, text)| text);
    text.split("\\00").next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dims(kernel: &str, dims: [u32; 3], line: u32) -> ClusterDims {
        let file = "a.cu".to_owned();
        ClusterDims {
            kernel: kernel.to_owned(),
            dims,
            location: CallSite { file, line },
        }
    }

    #[test]
    fn annotations_of_all_clang_versions_are_read() {
        let constants = "@.str = private unnamed_addr constant [22 x i8] c\"warpbook_cluster_dims\\00\", section \"llvm.metadata\"\n\
            @.str1 = private unnamed_addr constant [5 x i8] c\"a.cu\\00\", section \"llvm.metadata\"\n\
            @.str2 = private unnamed_addr constant [6 x i8] c\"other\\00\", section \"llvm.metadata\"\n\
            @.args = private unnamed_addr constant { i32, i32, i32 } { i32 4, i32 2, i32 1 }, section \"llvm.metadata\"\n\
            @.args2 = private unnamed_addr constant { i64 } { i64 3 }, section \"llvm.metadata\"\n";
        let opaque = "@llvm.global.annotations = appending global [3 x { ptr, ptr, ptr, i32, ptr }] \
            [{ ptr, ptr, ptr, i32, ptr } { ptr @_Z1kILi2EEvPi, ptr @.str, ptr @.str1, i32 3, ptr @.args }, \
            { ptr, ptr, ptr, i32, ptr } { ptr @f, ptr @.str2, ptr @.str1, i32 5, ptr null }, \
            { ptr, ptr, ptr, i32, ptr } { ptr @k2, ptr @.str, ptr @.str1, i32 7, ptr @.args2 }], section \"llvm.metadata\"\n";
        let typed = "@llvm.global.annotations = appending global [2 x { i8*, i8*, i8*, i32, i8* }] \
            [{ i8*, i8*, i8*, i32, i8* } { i8* bitcast (void (i32*)* @_Z1kILi2EEvPi to i8*), \
            i8* getelementptr inbounds ([22 x i8], [22 x i8]* @.str, i32 0, i32 0), \
            i8* getelementptr inbounds ([5 x i8], [5 x i8]* @.str1, i32 0, i32 0), i32 3, \
            i8* bitcast ({ i32, i32, i32 }* @.args to i8*) }], section \"llvm.metadata\"\n";
        let first = dims("_Z1kILi2EEvPi", [4, 2, 1], 3);
        let code = format!("{constants}{opaque}");
        assert_eq!(of_code(&code), [first, dims("k2", [3, 1, 1], 7)]);
        let found = of_code(&format!("{constants}{typed}"));
        assert_eq!(
            (&*found[0].kernel, found[0].dims),
            ("_Z1kILi2EEvPi", [4, 2, 1])
        );
        assert_eq!(without_annotations(&code), constants);
        assert_eq!(of_code(constants), []);
    }

    #[test]
    fn the_definition_of_a_kernel_gets_the_directives() {
        let ptx = ".visible .entry k\n(\n)\n;\n.visible .entry k2(\n)\n{\n}\n.visible .entry k(\n\t.param .u64 p\n)\n\
                   .maxntid 128, 1, 1\n{\n\tret;\n}\n";
        let directives = ".maxntid 128, 1, 1\n.explicitcluster\n.reqnctapercluster 2, 1, 1\n{";
        let expected = ptx.replace(".maxntid 128, 1, 1\n{", directives);
        assert_eq!(add_directives(ptx, &[dims("k", [2, 1, 1], 1)]), expected);
    }
}

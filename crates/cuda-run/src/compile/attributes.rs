//! Attributes of CUDA that clang lacks: `__cluster_dims__`, before version 22, and `__managed__`, which it has in HIP only.
//!
//! In a pass that writes LLVM code, the headers make `__cluster_dims__` an annotation, whose arguments the compiler evaluates.
//! The kernel's definition in PTX gets the directives of that size. The pass that writes PTX has no annotations, because clang
//! declares annotated kernels twice.
//!
//! The headers put a `__managed__` variable in a section of its own, by which it is recognized in the LLVM code of both passes.
//! On the device it is a `__device__` variable, whose definition in PTX gets the attribute `.managed`. Host code must
//! find the variable at the address that it has on the device. For this, the host's LLVM code declares it as a variable
//! of another library, so that all instructions load its address from the global offset table. In the assembly, these
//! loads are redirected to a pointer variable, `NAME.managed`, which the runtime sets before the program's constructors
//! run.

use std::collections::{BTreeMap, HashMap};

use cuda_driver::CallSite;

use super::scan::{is_name_char, variable_name};

/// The compiler's argument that turns `__cluster_dims__` into annotations.
pub const ANNOTATE_CLUSTERS: &str = "-DWARPBOOK_ANNOTATE_CLUSTER_DIMS";

/// The annotation in `crt/host_defines.h`, as LLVM code spells it.
const ANNOTATION: &str = "c\"warpbook_cluster_dims\\00\"";

/// Returns true if a source text may specify the size of clusters.
pub fn mentions_clusters(source: &[u8]) -> bool {
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
pub fn clusters_of_code(code: &str) -> Vec<ClusterDims> {
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
pub fn without_cluster_annotations(code: &str) -> String {
    let lines = code.split_inclusive('\n');
    let lines = lines.filter(|line| !line.starts_with("@llvm.global.annotations = "));
    lines.collect()
}

/// Adds the directives of the cluster sizes to the definitions of these kernels.
pub fn add_cluster_directives(ptx: &str, kernels: &[ClusterDims]) -> String {
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

/// The section in `crt/host_defines.h`.
const SECTION: &str = ", section \"__DATA,managed\"";

/// The end of the name of a managed variable's pointer.
const POINTER: &str = ".managed";

/// Returns true if a source text may declare a managed variable.
pub fn mentions_managed(source: &[u8]) -> bool {
    String::from_utf8_lossy(source).contains("__managed__")
}

/// Returns the names of the managed variables in LLVM code.
pub fn managed_names(code: &str) -> Vec<String> {
    let declarations = code.lines().filter_map(Declaration::parse);
    declarations
        .map(|declaration| declaration.name.to_owned())
        .collect()
}

/// Adds the attribute `.managed` to the variables with these names.
pub fn add_managed_attributes(ptx: &str, names: &[String]) -> String {
    let add = |line: &str| {
        let (linkage, declaration) = line.split_once(".global ")?;
        let is_declaration = matches!(linkage, "" | ".visible " | ".extern " | ".weak ");
        let is_managed = names.iter().any(|name| name == variable_name(declaration));
        (is_declaration && is_managed)
            .then(|| format!("{linkage}.global .attribute(.managed) {declaration}"))
    };
    let lines = ptx.split_inclusive('\n');
    lines
        .map(|line| add(line).unwrap_or_else(|| line.to_owned()))
        .collect()
}

/// The declaration of a managed variable in LLVM code.
struct Declaration<'a> {
    name: &'a str,
    /// The words before `global`, such as `internal`.
    linkage: &'a str,
    /// The type, and in a definition the value.
    value: &'a str,
}

impl<'a> Declaration<'a> {
    /// Parses a line such as `@x = internal global i32 undef, section "…", align 4`.
    fn parse(line: &'a str) -> Option<Declaration<'a>> {
        let (declaration, _) = line.split_once(SECTION)?;
        let (name, declaration) = declaration.strip_prefix('@')?.split_once(" = ")?;
        let kind = [" global ", " constant "]
            .into_iter()
            .find(|kind| declaration.contains(kind));
        let (linkage, value) = match kind {
            Some(kind) => declaration.split_once(kind)?,
            None => ("", declaration.strip_prefix("global ")?),
        };
        Some(Declaration {
            name,
            linkage,
            value,
        })
    }

    /// Returns the directives that declare the pointer in assembly, or `None` if another file defines it.
    fn pointer_linkage(&self) -> Option<&'static [&'static str]> {
        let has = |word: &str| self.linkage.split(' ').any(|part| part.starts_with(word));
        let is_macos = cfg!(target_os = "macos");
        if has("external") {
            return None;
        }
        Some(match (has("internal"), has("weak") || has("linkonce")) {
            (true, _) => &[],
            (false, true) if is_macos => &[".globl", ".weak_definition", ".private_extern"],
            (false, true) => &[".weak", ".hidden"],
            (false, false) if is_macos => &[".globl", ".private_extern"],
            (false, false) => &[".globl", ".hidden"],
        })
    }
}

/// The managed variables of a file's host code.
pub struct HostCode {
    /// The LLVM code to compile to assembly.
    pub code: String,
    /// The directives that declare the pointer to each variable.
    pointers: BTreeMap<String, Option<&'static [&'static str]>>,
}

impl HostCode {
    /// Rewrites LLVM code of the host. Returns `None` if it has no managed variables.
    pub fn rewrite(code: &str) -> Option<HostCode> {
        let declarations = code.lines().filter_map(Declaration::parse);
        let pointers: BTreeMap<_, _> = declarations
            .map(|declaration| (declaration.name.to_owned(), declaration.pointer_linkage()))
            .collect();
        if pointers.is_empty() {
            return None;
        }
        let mut rewritten = String::with_capacity(code.len());
        // The argument of the function that registers a file's variables: `i8** %0`.
        let mut handle: Option<&str> = None;
        for line in code.lines() {
            if let Some(Declaration { name, value, .. }) = Declaration::parse(line) {
                let ty = value.strip_suffix(" undef").unwrap_or(value);
                rewritten += &format!("@{name} = external dllimport global {ty}\n");
                rewritten += &format!("@{name}{POINTER} = external global {ty}\n");
            } else if let Some(arguments) = line.strip_prefix("  call void @__cudaRegisterVar(")
                && let Some(name) =
                    first_name(arguments).filter(|name| pointers.contains_key(*name))
            {
                handle = arguments.split(',').next();
                let arguments =
                    arguments.replacen(&format!("@{name}"), &format!("@{name}{POINTER}"), 1);
                rewritten += &format!("  call void @__cudaRegisterManagedVar({arguments}\n");
            } else if let Some(parameters) = line.strip_prefix("declare void @__cudaRegisterVar(") {
                rewritten +=
                    &format!("{line}\ndeclare void @__cudaRegisterManagedVar({parameters}\n");
                let handle = parameters.split(',').next().unwrap_or_default();
                rewritten += &format!("declare i8 @__cudaInitModule({handle})\n");
            } else if line.starts_with("declare void @__cudaRegisterManagedVar(") {
                // clang declares HIP's function of this name.
            } else if line == "  ret void"
                && let Some(handle) = handle.take()
            {
                rewritten += &format!("  call i8 @__cudaInitModule({handle})\n{line}\n");
            } else {
                rewritten += &register_first(line);
                rewritten.push('\n');
            }
        }
        Some(HostCode {
            code: rewritten,
            pointers,
        })
    }

    /// Redirects the accesses in the assembly to the pointers, and defines these.
    ///
    /// # Errors
    ///
    /// Fails with the name of a variable whose address initializes a static variable or a constant array.
    pub fn patch_assembly(&self, assembly: &str) -> Result<String, String> {
        let prefix = if cfg!(target_os = "macos") { "_" } else { "" };
        let mut patched = String::with_capacity(assembly.len());
        for line in assembly.split_inclusive('\n') {
            patched += &self.patch_line(line, prefix)?;
        }
        for (name, linkage) in &self.pointers {
            let Some(directives) = linkage else {
                continue;
            };
            let symbol = format!("{prefix}{name}{POINTER}");
            patched += "\t.data\n";
            for directive in *directives {
                patched += &format!("\t{directive}\t{symbol}\n");
            }
            patched += &format!("\t.p2align\t3\n{symbol}:\n\t.quad\t0\n");
        }
        Ok(patched)
    }

    fn patch_line(&self, line: &str, prefix: &str) -> Result<String, String> {
        let directive = line.split_whitespace().next().unwrap_or_default();
        let is_text = [
            ".asc",
            ".str",
            ".file",
            ".addrsig_sym",
            ".section",
            ".ident",
            ".type",
            ".size",
        ]
        .iter()
        .any(|kind| directive.starts_with(kind));
        if is_text {
            return Ok(line.to_owned());
        }
        let is_part = |c: char| is_name_char(c) || c == '.';
        // Comments contain words that may be names.
        let comment = ["# ", "// ", "; "]
            .iter()
            .filter_map(|start| line.find(start))
            .min();
        let (code, comment) = line.split_at(comment.unwrap_or(line.len()));
        let (mut patched, mut rest) = (String::new(), code);
        while let Some(start) = rest.find(is_part) {
            let (before, from) = rest.split_at(start);
            patched += before;
            let (word, after) = from.split_at(from.find(|c| !is_part(c)).unwrap_or(from.len()));
            rest = after;
            let name = word.strip_prefix(prefix).unwrap_or(word);
            if !self.pointers.contains_key(name) {
                patched += word;
                continue;
            }
            // The ways to load an address from the global offset table, and to load from the pointer instead.
            let suffixes = [
                ("@GOTPCREL", ""),
                ("@GOTPAGEOFF", "@PAGEOFF"),
                ("@GOTPAGE", "@PAGE"),
            ];
            let prefixes = [(":got:", ""), (":got_lo12:", ":lo12:")];
            let suffix = suffixes.iter().find(|(got, _)| after.starts_with(got));
            let load = prefixes.iter().find(|(got, _)| patched.ends_with(got));
            match (suffix, load) {
                (Some((got, direct)), _) => {
                    patched += &format!("{word}{POINTER}{direct}");
                    rest = &after[got.len()..];
                }
                (None, Some((got, direct))) => {
                    patched.truncate(patched.len() - got.len());
                    patched += &format!("{direct}{word}{POINTER}");
                }
                _ => return Err(name.to_owned()),
            }
        }
        Ok(patched + rest + comment)
    }
}

/// Returns the first global name in LLVM code.
fn first_name(code: &str) -> Option<&str> {
    let (_, name) = code.split_once('@')?;
    let end = name.find(|c| !is_name_char(c) && c != '.');
    Some(&name[..end.unwrap_or(name.len())])
}

/// Lets the constructor that registers the file's variables run before the program's constructors, which may use them.
fn register_first(line: &str) -> String {
    const DEFAULT_PRIORITY: &str = "i32 65535";
    let constructor = line.find("@__cuda_module_ctor");
    let constructor = constructor.filter(|_| line.starts_with("@llvm.global_ctors = "));
    let priority = constructor.and_then(|end| line[..end].rfind(DEFAULT_PRIORITY));
    let mut line = line.to_owned();
    if let Some(start) = priority {
        line.replace_range(start..start + DEFAULT_PRIORITY.len(), "i32 101");
    }
    line
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
        assert_eq!(clusters_of_code(&code), [first, dims("k2", [3, 1, 1], 7)]);
        let found = clusters_of_code(&format!("{constants}{typed}"));
        assert_eq!(
            (&*found[0].kernel, found[0].dims),
            ("_Z1kILi2EEvPi", [4, 2, 1])
        );
        assert_eq!(without_cluster_annotations(&code), constants);
        assert_eq!(clusters_of_code(constants), []);
    }

    #[test]
    fn the_definition_of_a_kernel_gets_the_directives() {
        let ptx = ".visible .entry k\n(\n)\n;\n.visible .entry k2(\n)\n{\n}\n.visible .entry k(\n\t.param .u64 p\n)\n\
                   .maxntid 128, 1, 1\n{\n\tret;\n}\n";
        let directives = ".maxntid 128, 1, 1\n.explicitcluster\n.reqnctapercluster 2, 1, 1\n{";
        let expected = ptx.replace(".maxntid 128, 1, 1\n{", directives);
        assert_eq!(
            add_cluster_directives(ptx, &[dims("k", [2, 1, 1], 1)]),
            expected
        );
    }

    const CODE: &str = "\
@x = internal global i32 undef, section \"__DATA,managed\", align 4
@a = dso_local global [2 x i32] undef, section \"__DATA,managed\", comdat, align 4, !dbg !1
@e = external global i8, section \"__DATA,managed\", align 1
@llvm.global_ctors = appending global [2 x { i32, void ()*, i8* }] [{ i32 65535, @init }, { i32 65535, @__cuda_module_ctor }]
  call void @__cudaRegisterVar(i8** %0, i8* bitcast (i32* @x to i8*), i8* @1)
  call void @__cudaRegisterVar(i8** %0, i8* bitcast (i32* @xy to i8*), i8* @2)
  ret void
declare void @__cudaRegisterVar(i8**, i8*, i8*)
declare void @__cudaRegisterManagedVar(i8**, i8*, i8*, i8*, i64, i32)
";

    #[test]
    fn the_host_code_declares_managed_variables() {
        assert_eq!(managed_names(CODE), ["x", "a", "e"]);
        let host = HostCode::rewrite(CODE).unwrap();
        let expected = "\
@x = external dllimport global i32
@x.managed = external global i32
@a = external dllimport global [2 x i32]
@a.managed = external global [2 x i32]
@e = external dllimport global i8
@e.managed = external global i8
@llvm.global_ctors = appending global [2 x { i32, void ()*, i8* }] [{ i32 65535, @init }, { i32 101, @__cuda_module_ctor }]
  call void @__cudaRegisterManagedVar(i8** %0, i8* bitcast (i32* @x.managed to i8*), i8* @1)
  call void @__cudaRegisterVar(i8** %0, i8* bitcast (i32* @xy to i8*), i8* @2)
  call i8 @__cudaInitModule(i8** %0)
  ret void
declare void @__cudaRegisterVar(i8**, i8*, i8*)
declare void @__cudaRegisterManagedVar(i8**, i8*, i8*)
declare i8 @__cudaInitModule(i8**)
";
        assert_eq!(host.code, expected);
        assert!(HostCode::rewrite("@x = global i32 3\n").is_none());
    }

    #[cfg(not(target_os = "macos"))]
    #[test]
    fn accesses_of_the_host_load_the_pointer() {
        let host = HostCode::rewrite(CODE).unwrap();
        let assembly = "\tmovq\tx@GOTPCREL(%rip), %rax\n\tmovq\txy@GOTPCREL(%rip), %rax\n\tadrp\tx8, :got:a\n\
                        \tldr\tx8, [x8, :got_lo12:a]\n\t.asciz\t\"x\"\n\t.addrsig_sym x\n\t.short\t5 # DWARF version x\n";
        let patched = host.patch_assembly(&assembly.replace("x8", "w8")).unwrap();
        let expected = "\tmovq\tx.managed(%rip), %rax\n\tmovq\txy@GOTPCREL(%rip), %rax\n\tadrp\tw8, a.managed\n\
                        \tldr\tw8, [w8, :lo12:a.managed]\n\t.asciz\t\"x\"\n\t.addrsig_sym x\n\t.short\t5 # DWARF version x\n\
                        \t.data\n\t.globl\ta.managed\n\t.hidden\ta.managed\n\t.p2align\t3\na.managed:\n\t.quad\t0\n\
                        \t.data\n\t.p2align\t3\nx.managed:\n\t.quad\t0\n";
        assert_eq!(patched, expected);
        assert_eq!(host.patch_assembly("\t.quad\ta+4\n"), Err("a".to_owned()));
    }

    #[test]
    fn managed_variables_in_ptx_have_the_attribute() {
        let ptx = ".visible .global .align 4 .u32 x = 3;\n.global .align 4 .b8 xs[8];\n.extern .global .u8 e;\n\
                   ld.global.u32 %r1, [x];\n";
        let expected = ".visible .global .attribute(.managed) .align 4 .u32 x = 3;\n.global .align 4 .b8 xs[8];\n\
                        .extern .global .attribute(.managed) .u8 e;\nld.global.u32 %r1, [x];\n";
        let managed = ["x", "e"].map(str::to_owned);
        assert_eq!(add_managed_attributes(ptx, &managed), expected);
    }
}

//! Tests of module scope.

use super::{HEAD, instruction, module};
use crate::ptx::ast::{Linkage, Target};
use crate::ptx::parse;

#[test]
fn module_headers_are_parsed() {
    let parsed = parse(".version 8.0 .target sm_90a, texmode_independent, debug").unwrap();
    assert_eq!(parsed.version, (8, 0));
    assert_eq!(
        parsed.target,
        Target {
            sm: 90,
            name: "sm_90a"
        }
    );
    let parsed = parse(".version 8.8\n.target sm_100f\n.address_size 64").unwrap();
    assert_eq!(
        parsed.target,
        Target {
            sm: 100,
            name: "sm_100f"
        }
    );
}

#[test]
fn trailing_zero_bytes_are_ignored() {
    assert_eq!(parse(&format!("{HEAD}\0\0")).unwrap(), module(""));
}

#[test]
fn comments_are_allowed_anywhere() {
    let text = "/* é { \" */ .global // é \" {\n.u32 /**/ x /* // */ ; // the end";
    assert_eq!(module(text).variables[0].name, "x");
}

#[test]
fn files_have_an_index_and_a_path() {
    let text = r#".file 1 "a b/k.cu" .file 2 "h.cuh", 1700000000, 99"#;
    assert_eq!(
        module(text).files,
        [(1, "a b/k.cu".into()), (2, "h.cuh".into())]
    );
    // Escaped as by LLVM's assembly writer.
    let text = r#".file 7 "C:\\k \"1\"\303\251.cu""#;
    assert_eq!(module(text).files, [(7, "C:\\k \"1\"é.cu".into())]);
    assert_eq!(module(r#".file 3 """#).files, [(3, String::new())]);
}

#[test]
fn sections_are_skipped_to_their_closing_brace() {
    let text = ".section .debug_info\n{\n.b8 1 // a }\n.b32 a-b { .b64 $L } \n}\n\
                .section .debug_str { s: .b8 97,0 }\n.global .u32 x;";
    let parsed = module(text);
    assert_eq!(parsed.variables.len(), 1);
    assert_eq!(parsed.variables[0].line, 10);
}

#[test]
fn linkage_applies_to_the_next_declaration() {
    let parsed = module(
        ".visible .global .u32 a; .extern .const .u32 b; .weak .global .u32 c;
         .common .global .u32 d; .global .u32 e;
         .visible .entry f() {} .extern .func g; .weak .func h() {} .func i() {}",
    );
    let linkages: Vec<_> = parsed
        .variables
        .iter()
        .map(|variable| variable.linkage)
        .collect();
    let all = [
        Linkage::Visible,
        Linkage::Extern,
        Linkage::Weak,
        Linkage::Common,
    ];
    assert_eq!(linkages, [&all[..], &[Linkage::Internal]].concat());
    let linkages: Vec<_> = parsed
        .functions
        .iter()
        .map(|function| function.linkage)
        .collect();
    assert_eq!(linkages, [&all[..3], &[Linkage::Internal]].concat());
}

#[test]
fn pragmas_are_skipped() {
    let text = r#".pragma "a", "b"; .entry k() .pragma "c"; { .pragma "nounroll"; ret; }"#;
    assert_eq!(
        module(text).functions[0].body.as_ref().map(Vec::len),
        Some(1)
    );
}

#[test]
fn inlined_code_has_its_own_location() {
    let text = ".loc 2 66 3, function_name $L__info_string0, inlined_at 1 14 9 ret;";
    let inlined = instruction(text).location.unwrap();
    assert_eq!((inlined.file, inlined.line, inlined.column), (2, 66, 3));
    let text = ".loc 2 67 4, function_name info_string0+50, inlined_at 1 14 9 ret;";
    assert_eq!(instruction(text).location.unwrap().line, 67);
}

//! Tests of module scope.

use super::{HEAD, instruction, module};
use crate::ptx::ast::{Linkage, Target};
use crate::ptx::parse;

#[test]
fn the_head_of_a_module() {
    let read = parse(".version 8.0 .target sm_90a, texmode_independent, debug").unwrap();
    assert_eq!(read.version, (8, 0));
    assert_eq!(
        read.target,
        Target {
            sm: 90,
            name: "sm_90a"
        }
    );
    let read = parse(".version 8.8\n.target sm_100f\n.address_size 64").unwrap();
    assert_eq!(
        read.target,
        Target {
            sm: 100,
            name: "sm_100f"
        }
    );
}

#[test]
fn zero_bytes_may_end_the_text() {
    assert_eq!(parse(&format!("{HEAD}\0\0")).unwrap(), module(""));
}

#[test]
fn comments_may_stand_anywhere() {
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
    let read = module(text);
    assert_eq!(read.variables.len(), 1);
    assert_eq!(read.variables[0].line, 10);
}

#[test]
fn linkage_goes_to_what_follows() {
    let read = module(
        ".visible .global .u32 a; .extern .const .u32 b; .weak .global .u32 c;
         .common .global .u32 d; .global .u32 e;
         .visible .entry f() {} .extern .func g; .weak .func h() {} .func i() {}",
    );
    let linkages: Vec<_> = read
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
    let linkages: Vec<_> = read
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
fn inlined_code_keeps_its_own_place() {
    let text = ".loc 2 66 3, function_name $L__info_string0, inlined_at 1 14 9 ret;";
    let place = instruction(text).location.unwrap();
    assert_eq!((place.file, place.line, place.column), (2, 66, 3));
    let text = ".loc 2 67 4, function_name info_string0+50, inlined_at 1 14 9 ret;";
    assert_eq!(instruction(text).location.unwrap().line, 67);
}

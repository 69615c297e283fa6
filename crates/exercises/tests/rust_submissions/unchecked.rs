//! Submissions with machine code or with programs that rustc accepts although they are unsound. They are rejected before
//! they are compiled, on every system.

use crate::Attempt;

/// Lists items that must be rejected, as `name: items => the word that the message names;`.
macro_rules! unchecked {
    ($($name:literal: $items:expr => $word:literal;)*) => {
        &[$(Attempt::rejected_as($name, "", "compile", &[concat!("`", $word, "`: ")]).with_items($items)),*]
    };
}

pub const ATTEMPTS: &[Attempt] = unchecked! {
    "a system call in a naked function":
        r#"#[unsafe(naked)] extern "sysv64" fn call(_number: i64) -> i64 { core::arch::naked_asm!("mov rax, rdi", "syscall", "ret") }"#
        => "unsafe";
    "a file in the assembler of a naked function":
        r#"#[unsafe(naked)] extern "sysv64" fn text() -> *const u8 {
            core::arch::naked_asm!("lea rax, [rip + 2f]", "ret", "2:", ".incbin \"/usr/include/stdio.h\"", ".byte 0") }"#
        => "unsafe";
    "machine code without the word unsafe": r#"core::arch::global_asm!("x: syscall");"# => "global_asm";
    "a symbol of the linker": r#"#[no_mangle] pub fn write() {}"# => "no_mangle";
    // https://github.com/rust-lang/rust/issues/25860
    "lifetimes extended by a function pointer":
        "static UNIT: &&() = &&();
        fn translate<'a, 'b, T: ?Sized>(_: &'a &'b (), it: &'b mut T) -> &'a mut T { it }
        pub fn longer<'a, 'b, T: ?Sized>(it: &'a mut T) -> &'b mut T { let f: for<'x> fn(_, &'x mut T) -> &'b mut T = translate; f(UNIT, it) }"
        => "'a";
    "lifetimes extended by a function pointer without names":
        "pub fn call<A, R>(f: fn(&'static str, A) -> R, a: A) -> R { f(\"\", a) }" => "fn";
    // https://github.com/rust-lang/rust/issues/57893
    "any type from any other by a trait's object":
        "trait Object<U> { type Output; }
        impl<T: ?Sized, U> Object<U> for T { type Output = U; }
        fn foo<T: ?Sized, U>(x: <T as Object<U>>::Output) -> U { x }
        pub fn transmute<T, U>(x: T) -> U { foo::<dyn Object<U, Output = T>, U>(x) }"
        => "trait";
    // https://github.com/rust-lang/rust/issues/84366
    "lifetimes extended by an iterator":
        "fn h<I: Iterator + 'static>(_: &I, x: I::Item) -> Box<dyn Fn() -> u8> where I::Item: Fn() -> u8 { Box::new(x) }
        pub fn longer(v: &Vec<u8>) -> Box<dyn Fn() -> u8> {
            fn same<T>(x: Option<T>) -> Option<T> { x }
            h(&std::iter::from_fn(|| same(None)), move || v[0]) }"
        => "'static";
    "lifetimes extended by an iterator that is Any":
        "pub fn h<I: Iterator + std::any::Any>(_: &I, x: I::Item) -> Box<dyn std::fmt::Display> where I::Item: std::fmt::Display { Box::new(x) }"
        => "Any";
    "code in macros of its own": "macro_rules! f { ($f:tt) => { $f(u8) } } pub type F = f!(fn);" => "macro_rules";
};

//! Advice for compile errors: undeclared names, and an order of words that only nvcc accepts.

use chapter::lang::Lang;

/// Names separated by spaces, and their replacement in English and Chinese.
type Replacement = (&'static str, &'static str, &'static str);

/// Names that the course lacks, with replacements.
const REPLACEMENTS: [Replacement; 1] = [("swap", "a third variable", "借助第三个变量交换")];

/// Returns true if a compiler's message reports an undeclared name, or a function that older GPUs lack.
pub fn is_reported(message: &str) -> bool {
    let is_missing = |line: &str| {
        undeclared_name(line).is_some()
            || line.contains("no matching function for call to 'atomic")
            || line.contains("asynchronous copies need sm_80")
    };
    message.lines().any(is_missing)
}

/// Returns advice about the first undeclared name in a compiler's message, about `alignas` in the wrong place, about a union
/// of vectors, or about a host function; `None` if there is none of them.
pub fn advice(message: &str, lang: Lang) -> Option<String> {
    advice_on_name(message, lang)
        .or_else(|| advice_on_alignment(message, lang))
        .or_else(|| advice_on_union(message, lang))
        .or_else(|| advice_on_host_function(message, lang))
}

/// Returns advice if a union that contains a vector type, such as `float4`, is assigned, which clang's vector types do not
/// allow.
fn advice_on_union(message: &str, lang: Lang) -> Option<String> {
    let is_reported = message.contains("copy assignment operator is implicitly deleted");
    is_reported.then(|| {
        localize!(
            lang,
            "A union with a member of type `float4`, `int4` and the like cannot be assigned in this course, because \
             these types have an operator of their own. Assign the member: `to.four = from.four`.",
            "在本课程中，含有 `float4`、`int4` 等成员的联合体（union）不能整体赋值，因为这些类型有自己的赋值运算符。\
             请给成员赋值：`to.four = from.four`。"
        )
    })
}

/// Returns advice if a host function, such as a `main` of the student's, calls a device function or launches a kernel.
fn advice_on_host_function(message: &str, lang: Lang) -> Option<String> {
    let is_reported = message.contains("call to __device__ function from __host__ function")
        || message.contains("reference to __global__ function")
        || message.contains("call to __global__ function");
    is_reported.then(|| {
        localize!(
            lang,
            "Your file contains only kernels and the functions that they call, which are marked `__device__`. Delete \
             `main` and other host functions, or put them between `#ifdef MY_TEST` and `#endif`.",
            "你的文件只写核函数和它们调用的函数，后者要标上 `__device__`。请删去 `main` 和其他主机端函数，\
             或者把它们放在 `#ifdef MY_TEST` 和 `#endif` 之间。"
        )
    })
}

/// Returns advice if clang rejects `alignas` after `__shared__`, which is an attribute to clang and a keyword to nvcc.
fn advice_on_alignment(message: &str, lang: Lang) -> Option<String> {
    let mut lines = message.lines();
    lines.find(|line| line.contains("error: an attribute list cannot appear here"))?;
    let is_aligned = lines.next().is_some_and(|line| line.contains("alignas"));
    is_aligned.then(|| {
        localize!(
            lang,
            "clang, unlike nvcc, requires `alignas` before `__shared__`, `__constant__` and `__device__`: \
             `alignas(16) __shared__ float …`.",
            "与 nvcc 不同，clang 要求把 `alignas` 写在 `__shared__`、`__constant__` 和 `__device__` 之前：\
             `alignas(16) __shared__ float …`。"
        )
    })
}

/// Returns advice about the first undeclared name in a compiler's message; `None` if there is none.
fn advice_on_name(message: &str, lang: Lang) -> Option<String> {
    let name = message.lines().find_map(undeclared_name)?;
    let is_named = |names: &str| names.split(' ').any(|replaced| replaced == name);
    let replacement = REPLACEMENTS.iter().find(|(names, ..)| is_named(names));
    if let Some(instead) = replacement.map(|(_, en, zh)| lang.pick(*en, *zh)) {
        return Some(localize!(
            lang,
            "`{}` is not available in this course. Use instead: {}.",
            "本课程没有 `{}`。可以改用：{}。";
            name, instead
        ));
    }
    if name == "cuda" {
        return Some(localize!(
            lang,
            "CUDA's C++ library (`cuda::…`) is not available in this course. Use `__pipeline_memcpy_async` or \
             `cooperative_groups::memcpy_async` for copies, and atomic functions for `cuda::atomic`.",
            "本课程不提供 CUDA 的 C++ 库（`cuda::…`）。复制请用 `__pipeline_memcpy_async` 或 \
             `cooperative_groups::memcpy_async`，代替 `cuda::atomic` 请用原子函数。"
        ));
    }
    if name.starts_with("cuda")
        || name.starts_with("cu") && name.chars().nth(2).is_some_and(char::is_uppercase)
    {
        return Some(localize!(
            lang,
            "`{}` belongs to the host's side. The course's program allocates, copies, launches and waits: \
             your file contains only kernels and the functions that they call.",
            "`{}` 属于主机端。内存分配、复制、启动和等待都由课程的程序完成：你的文件只写核函数和它们调用的函数。";
            name
        ));
    }
    if ["cooperative_groups", "cg"].contains(&name) {
        return Some(localize!(
            lang,
            "Groups of threads need `#include <cooperative_groups.h>` and \
             `namespace cg = cooperative_groups;` before their first use.",
            "使用协作组之前，要先写 `#include <cooperative_groups.h>` 和 `namespace cg = cooperative_groups;`。"
        ));
    }
    if name == "std" {
        return Some(localize!(
            lang,
            "There is no C++ standard library in a kernel. `min`, `max`, `sqrtf`, `fabsf` and \
             similar functions, and types such as `uint32_t`, are available without `std::`.",
            "核函数里没有 C++ 标准库。`min`、`max`、`sqrtf`、`fabsf` 等函数和 `uint32_t` 等类型不加 `std::` 就能用。"
        ));
    }
    Some(localize!(
        lang,
        "`{}` is not declared. Is it a typing error, or declared further down? Available from \
         CUDA: threadIdx and the other built-in variables, __syncthreads, atomics, shuffles and \
         votes with _sync, __ldg, vector types, printf, assert, and all mathematics; \
         `#include <cooperative_groups.h>` declares groups of threads.",
        "`{}` 没有声明。是不是写错了，或者声明在后面？这里提供的 CUDA 功能有：threadIdx 等内建变量、__syncthreads、\
         原子操作、带 _sync 的洗牌和表决函数、__ldg、向量类型、printf、assert，以及全部数学函数；\
         协作组要用 `#include <cooperative_groups.h>`。";
        name
    ))
}

/// Returns the undeclared name that a line of clang's message reports.
fn undeclared_name(line: &str) -> Option<&str> {
    let (_, error) = line.split_once("error: ")?;
    let is_missing = ["no member named", "no type named"]
        .iter()
        .any(|start| error.starts_with(start));
    if is_missing && error.contains("in namespace 'std'") {
        return Some("std");
    }
    let prefixes = ["use of undeclared identifier '", "unknown type name '"];
    let rest = prefixes
        .iter()
        .find_map(|prefix| error.strip_prefix(prefix))?;
    let (name, _) = rest.split_once('\'')?;
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undeclared_names_have_replacements() {
        let advice_for =
            |error: &str| advice(&format!("a.cu:3:5: error: {error}\n    code\n"), Lang::En);
        for (error, expected) in [
            (
                "use of undeclared identifier 'swap'",
                "Use instead: a third variable.",
            ),
            (
                "use of undeclared identifier 'cg'; did you mean 'cb'?",
                "`#include <cooperative_groups.h>`",
            ),
            (
                "use of undeclared identifier 'cudaMalloc'",
                "belongs to the host's side",
            ),
            (
                "no member named 'min' in namespace 'std'; did you mean simply 'min'?",
                "without `std::`",
            ),
            ("use of undeclared identifier 'std'", "without `std::`"),
            (
                "use of undeclared identifier 'cuda'",
                "`cooperative_groups::memcpy_async`",
            ),
            (
                "use of undeclared identifier 'cg'",
                "`namespace cg = cooperative_groups;`",
            ),
            (
                "object of type 'Words' cannot be assigned because its copy assignment operator is implicitly deleted",
                "`to.four = from.four`",
            ),
            (
                "reference to __global__ function 'scale' in __host__ function",
                "`#ifdef MY_TEST`",
            ),
            (
                "use of undeclared identifier 'tread'",
                "`tread` is not declared.",
            ),
        ] {
            let advice = advice_for(error).unwrap_or_default();
            assert!(advice.contains(expected), "{error}: {advice}");
        }
        assert_eq!(advice_for("expected ';' after expression"), None);
    }

    #[test]
    fn alignas_after_shared_gets_advice() {
        let message =
            |code| format!("a.cu:7:16: error: an attribute list cannot appear here\n{code}\n");
        let advice_for = |code| advice(&message(code), Lang::En);
        let advice =
            advice_for("    __shared__ alignas(16) float tile[2][128];").unwrap_or_default();
        assert!(
            advice.contains("`alignas(16) __shared__ float …`"),
            "{advice}"
        );
        assert_eq!(advice_for("    int [[unused]] x;"), None);
    }
}

//! Chinese translations of the simulator's messages. Each English sentence is a pattern whose placeholders
//! match numbers, names or sentences in turn.

/// English patterns with `{}` for each part and their translations, which refer to the parts by number. The
/// first pattern that matches applies.
const SENTENCES: &[(&str, &str)] = &[
    // Faults that stop a kernel.
    (
        "illegal address: write of {} bytes at {}, outside every {} allocation",
        "非法地址：向 {1} 写入 {0} 字节，不在任何已分配的{2}之内",
    ),
    (
        "illegal address: read of {} bytes at {}, outside every {} allocation",
        "非法地址：从 {1} 读取 {0} 字节，不在任何已分配的{2}之内",
    ),
    (
        "misaligned address: {} is not a multiple of {}",
        "地址未对齐：{0} 不是 {1} 的整数倍",
    ),
    ("it is {} past an aligned address", "比整数倍多 {0}"),
    (
        "stack overflow: the call requires {} bytes of local memory per thread, the limit is {}",
        "栈溢出：这次调用使每个线程需要 {0} 字节局部内存，上限是 {1} 字节",
    ),
    (
        "stack overflow: the registers of all active calls in the block exceed {} MB",
        "栈溢出：线程块中尚未返回的调用所占的寄存器超过 {0} MB",
    ),
    (
        "call through a pointer that is not a function: {}",
        "通过不是函数的指针 {0} 调用",
    ),
    (
        "barrier {} never opens: {} threads wait, {} are required, and the others cannot reach it",
        "第 {0} 号同步屏障永远等不齐：已有 {1} 个线程在等，需要 {2} 个，其余的到不了这里",
    ),
    (
        "warp synchronization never completes: its mask {} names lanes that cannot reach it",
        "线程束同步永远等不齐：掩码 {0} 中有到不了这里的通道",
    ),
    (
        "incomplete warp: the instruction requires all 32 threads of a warp, but only {} are present: launch blocks of a multiple of 32 threads, and let no thread exit before it",
        "线程束不完整：这条指令要求 32 个线程都在，而这里只有 {0} 个：线程块的大小应是 32 的整数倍，并且之前不能有线程结束",
    ),
    (
        "incomplete warpgroup: the instruction requires the 128 threads of four warps whose first number is a multiple of four, but not all are present: launch blocks of a multiple of 128 threads, and let no thread exit before it",
        "线程束组不完整：这条指令要求 128 个线程都在，即从 4 的整数倍开始的四个线程束，而这里不全：线程块的大小应是 128 的整数倍，并且之前不能有线程结束",
    ),
    ("wgmma: {}", "wgmma：{0}"),
    (
        "no `wgmma.fence` comes before the first `wgmma.mma_async`",
        "第一条 `wgmma.mma_async` 之前没有 `wgmma.fence`",
    ),
    (
        "a thread exits without waiting for its matrix multiplications: `wgmma.commit_group` and then `wgmma.wait_group` must come before their results are used",
        "线程结束前没有等待其矩阵乘法完成：使用结果之前要先有 `wgmma.commit_group`，再有 `wgmma.wait_group`",
    ),
    (
        "the threads of a warp pass different descriptors of one matrix",
        "同一线程束的线程给出了不同的矩阵描述符",
    ),
    (
        "a swizzled matrix must start at a multiple of 8 of its rows (1024, 512 or 256 bytes), or inside the first of them",
        "交错存放的矩阵必须从 8 行（1024、512 或 256 字节）的整数倍处开始，或者从其中第一行之内开始",
    ),
    (
        "a descriptor with a base offset is not simulated: align the matrix to 1024 bytes",
        "没有模拟带基址偏移的描述符：请让矩阵从 1024 字节的整数倍处开始",
    ),
    (
        "invalid barrier: number {} (0 to 15 exist) for {} threads (a multiple of 32)",
        "无效的同步屏障：编号 {0}（只有 0 到 15），线程数 {1}（应是 32 的整数倍）",
    ),
    ("trap: the kernel stopped itself", "核函数自行中止"),
    (
        "invalid free of {}: in-kernel malloc did not return this address, or it was freed before",
        "释放 {0}：它不是核函数中 malloc 给出的地址，或者已经释放过",
    ),
    (
        "no texture or surface object has the handle {}, or its memory was freed",
        "没有句柄为 {0} 的纹理或表面对象，或者其内存已经释放",
    ),
    ("mbarrier: {}", "mbarrier：{0}"),
    ("the kernel was interrupted", "核函数被中断"),
    // Details of invalid addresses.
    ("the module's constants take {}", "模块的常量共占 {0}"),
    ("the parameters take {}", "参数共占 {0}"),
    ("the block has no shared memory", "线程块没有共享内存"),
    (
        "{} before the block's shared memory",
        "在线程块的共享内存之前 {0} 处",
    ),
    ("before the thread's local memory", "在线程的局部内存之前"),
    ("wrong space: {}", "存储空间不对：{0}"),
    (
        "it is an address of the thread's own memory",
        "这是线程自己的内存中的地址",
    ),
    ("it is an address of shared memory", "这是共享内存中的地址"),
    (
        "it is an address of code or of parameters",
        "这是代码或参数的地址",
    ),
    (
        "it is an address of constant memory, which a kernel may only read",
        "这是常量内存中的地址，核函数只能读取",
    ),
    (
        "it is an address of the host's memory",
        "这是主机内存中的地址",
    ),
    (
        "it is memory of device {}, to which this device has no access",
        "这是设备 {0} 的内存，本设备无权访问",
    ),
    ("the address is null plus {}", "空指针加 {0}"),
    ("the address is null minus {}", "空指针减 {0}"),
    ("the address is null", "地址为空"),
    (
        "byte {} of {}, which has been freed",
        "{1}的第 {0} 字节，该内存已释放",
    ),
    ("almost 2^32 elements past {}", "比{0}多出将近 2^32 个元素"),
    ("right past the end of {}", "紧接在{0}的末尾之后"),
    ("{} past the end of {}", "在{1}的末尾之后 {0} 处"),
    ("the block's {} of shared memory", "线程块的 {0}共享内存"),
    ("the thread's {} of local memory", "线程的 {0}局部内存"),
    ("nothing is allocated", "没有分配任何内存"),
    // Locations of accesses.
    (
        "{} at offset {} of shared memory: {} of an array of {}",
        "共享内存偏移 {1} 处的 {0}：长 {3}的数组的{2}",
    ),
    (
        "{} at offset {} of shared memory",
        "共享内存偏移 {1} 处的 {0}",
    ),
    (
        "{} at offset {} of local memory",
        "局部内存偏移 {1} 处的 {0}",
    ),
    ("{} before the start", "开头之前 {0}"),
    ("{} at {}: all of {}", "地址 {1} 处的 {0}：{2}的全部"),
    (
        "{} at {}: byte {} of {}",
        "地址 {1} 处的 {0}：{3}的第 {2} 字节",
    ),
    ("byte {}", "第 {0} 字节"),
    // Absent threads.
    ("{}, one of them at line {}", "{0}，其中一个在第 {1} 行"),
    (
        "{}; the first exited at line {}",
        "{0}；最先结束的在第 {1} 行",
    ),
    (
        "{} of the warp's {} threads are here, the others are not",
        "线程束的 {1} 个线程中有 {0} 个在这里，其余的不在",
    ),
    (
        "1 thread of the block has exited and will not arrive",
        "线程块中有 1 个线程已经结束，不会到达",
    ),
    (
        "{} threads of the block have exited and will not arrive",
        "线程块中有 {0} 个线程已经结束，不会到达",
    ),
    ("the mask is {}; lanes {}", "掩码是 {0}；通道 {1}"),
    // Memory spaces, allocations and numbers.
    (
        "the {}-byte allocation at {}, allocated {}",
        "位于 {1} 的 {0} 字节的分配（第 {2} 次分配）",
    ),
    ("`{}` ({})", "`{0}`（{1}）"),
    ("{} before {}", "在{1}之前 {0} 处"),
    ("1 byte", "1 字节"),
    ("{} bytes at {}", "地址 {1} 处的 {0} 字节"),
    ("{} bytes", "{0} 字节"),
    ("global memory", "全局内存"),
    ("shared memory", "共享内存"),
    ("local memory", "局部内存"),
    ("constant memory", "常量内存"),
    ("kernel parameters", "核函数参数"),
    ("memory", "内存"),
    // Likely causes.
    (
        "a negative index: the neighbour of the first element, or a halo to the left",
        "下标小于零：第一个元素的邻居，或者左侧的光环（halo）",
    ),
    (
        "an unsigned index that wrapped below zero, such as `i - 1` for `i == 0`",
        "无符号下标减到了零以下，例如 `i` 为 0 时的 `i - 1`",
    ),
    (
        "an `int` that overflowed and became negative: `blockIdx.x * blockDim.x`, or row times width, in a large array",
        "`int` 溢出变成了负数：大数组中的 `blockIdx.x * blockDim.x`，或者行号乘宽度",
    ),
    (
        "an index in other units than the array's: bytes for elements, a pitch for a width, rows for columns, or one \
         that overflowed",
        "下标的单位与数组不符：把字节当成元素，把 pitch 当成宽度，把行当成列；或者下标溢出了",
    ),
    (
        "an index past the end of a `__constant__` array",
        "下标超出了 `__constant__` 数组",
    ),
    (
        "an index past the end of an array in a parameter",
        "下标超出了参数中的数组",
    ),
    (
        "an index past the end of a `__shared__` array",
        "下标超出了 `__shared__` 数组",
    ),
    (
        "an index past the end of a `__shared__` array, or a launch with too little dynamic shared memory for an `extern` array",
        "下标超出了 `__shared__` 数组，或者启动时给 `extern` 数组的字节太少",
    ),
    (
        "an `extern __shared__` array, but a launch without dynamic shared memory",
        "声明了 `extern __shared__` 数组，而启动时没有给它字节",
    ),
    (
        "an index past the end of an array declared in the kernel",
        "下标超出了核函数中声明的数组",
    ),
    (
        "a pointer cast to a wider type, such as `float4` from a `float` that is not the first of four, or rows whose pitch is not a multiple of the type's size",
        "把指针转换成更宽的类型（例如从不是每四个中第一个的 `float` 转换成 `float4`），或者行的 pitch 不是该类型大小的整数倍",
    ),
    (
        "a store or an atomic through a pointer to a `__constant__` variable",
        "通过指向 `__constant__` 变量的指针写入或做原子操作",
    ),
];

/// Translates a message of one or more lines; `None` if a line matches no pattern.
pub fn translate(sentences: &str) -> Option<String> {
    let lines = sentences
        .lines()
        .map(|line| translate_sentence(line.trim()));
    let lines: Option<Vec<String>> = lines.collect();
    Some(lines?.join("；"))
}

fn translate_sentence(text: &str) -> Option<String> {
    SENTENCES.iter().find_map(|(english, chinese)| {
        let parts = match_pattern(english, text)?;
        let mut translated = (*chinese).to_owned();
        for (number, part) in parts.iter().enumerate() {
            translated = translated.replace(&format!("{{{number}}}"), &translate_part(part)?);
        }
        Some(translated)
    })
}

/// Translates a part of a sentence: a number, an address, a name, or a sentence.
fn translate_part(text: &str) -> Option<String> {
    let number = text.trim_end_matches(['s', 't', 'n', 'd', 'r', 'h']);
    if !number.is_empty() && number.chars().all(|digit| digit.is_ascii_digit()) {
        return Some(number.to_owned());
    }
    let is_name =
        |character: char| character.is_ascii_alphanumeric() || "_.:<>".contains(character);
    // A list of lanes: `0, 2 to 5`.
    let lanes = text.replace(" to ", "–").replace(", ", "、");
    let is_lanes = |character: char| character.is_ascii_digit() || "–、".contains(character);
    match translate_sentence(text) {
        Some(translated) => Some(translated),
        None if text.chars().all(is_name) => Some(text.to_owned()),
        None => lanes.chars().all(is_lanes).then_some(lanes),
    }
}

/// Returns the texts that match each `{}` of a pattern; `None` if the pattern does not match.
fn match_pattern<'a>(pattern: &str, text: &'a str) -> Option<Vec<&'a str>> {
    let mut pieces = pattern.split("{}");
    let mut rest = text.strip_prefix(pieces.next()?)?;
    let mut parts = Vec::new();
    let mut pieces = pieces.peekable();
    while let Some(piece) = pieces.next() {
        let end = match (piece, pieces.peek()) {
            ("", None) => rest.len(),
            (piece, None) => rest.strip_suffix(piece)?.len(),
            (piece, Some(_)) => rest.find(piece)?,
        };
        parts.push(&rest[..end]);
        rest = &rest[end + piece.len()..];
    }
    rest.is_empty().then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_and_their_parts_are_translated() {
        for (english, chinese) in [
            (
                "illegal address: write of 4 bytes at 0x7f00, outside every global memory allocation\n  right past the end \
                 of the 124-byte allocation at 0x7e00, allocated 3rd",
                "非法地址：向 0x7f00 写入 4 字节，不在任何已分配的全局内存之内；紧接在位于 0x7e00 的 124 字节的分配（第 3 次分配）的末尾之后",
            ),
            (
                "1020 bytes past the end of `table` (64 bytes)",
                "在`table`（64 字节）的末尾之后 1020 字节 处",
            ),
            (
                "4 bytes at offset 0x40 of shared memory: byte 64 of an array of 64 bytes",
                "共享内存偏移 0x40 处的 4 字节：长 64 字节的数组的第 64 字节",
            ),
            (
                "31 of the warp's 32 threads are here, the others are not, one of them at line 7",
                "线程束的 32 个线程中有 31 个在这里，其余的不在，其中一个在第 7 行",
            ),
            (
                "4 bytes at 0x10: byte 8 of the 16-byte allocation at 0x8, allocated 12th",
                "地址 0x10 处的 4 字节：位于 0x8 的 16 字节的分配（第 12 次分配）的第 8 字节",
            ),
            (
                "the mask is 0x0000ffff; lanes 0, 2 to 5",
                "掩码是 0x0000ffff；通道 0、2–5",
            ),
            ("4 bytes at 0x30", "地址 0x30 处的 4 字节"),
            (
                "wgmma: no `wgmma.fence` comes before the first `wgmma.mma_async`",
                "wgmma：第一条 `wgmma.mma_async` 之前没有 `wgmma.fence`",
            ),
        ] {
            assert_eq!(translate(english).as_deref(), Some(chinese), "{english}");
        }
        assert_eq!(translate("an unknown sentence"), None);
    }

    #[test]
    fn translations_use_every_part_of_their_pattern() {
        for (english, chinese) in SENTENCES {
            let parts = english.matches("{}").count();
            for part in 0..parts {
                assert!(chinese.contains(&format!("{{{part}}}")), "{english}");
            }
            assert!(!chinese.contains(&format!("{{{parts}}}")), "{english}");
            assert!(!chinese.is_ascii(), "{english}");
        }
    }
}

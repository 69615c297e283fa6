//! Titles and likely causes of all kinds of findings, in both languages.

use cuda_driver::{Cause, Finding, FindingKind};

use super::chinese::localized;
use super::strip_comment;
use crate::lang::Lang;

/// Defines [`title`] by a row per kind: its titles in English and Chinese.
macro_rules! titles {
    ($($kind:ident => $en:literal, $zh:literal;)*) => {
        /// Returns the title of a kind of finding.
        pub fn title(kind: FindingKind, lang: Lang) -> &'static str {
            match kind {
                $(FindingKind::$kind => lang.pick($en, $zh)),*
            }
        }
    };
}

titles! {
    OutOfBounds => "An access outside every allocation", "越界访问：地址不在任何已分配的内存之内";
    UseAfterFree => "An access to freed memory", "访问了已经释放的内存";
    NullPointer => "An access through a null pointer", "通过空指针访问内存";
    WrongSpace => "An address in another memory space", "使用了另一种存储空间的地址";
    Misaligned => "A misaligned address", "地址没有对齐";
    StackOverflow => "A stack overflow", "栈溢出";
    InvalidCall => "A call through an invalid function pointer", "通过无效的函数指针调用";
    IgnoredAddressMode =>
        "A texture coordinate outside the texture, whose address mode needs normalized coordinates",
        "纹理坐标超出了纹理，而它的寻址模式需要归一化坐标";
    ExternArrays => "Several `extern __shared__` arrays in one kernel", "一个核函数里有几个 `extern __shared__` 数组";
    ByteFill => "A read of memory that was set byte by byte", "读取了逐字节设值的内存";
    UnusedInput => "Input that no kernel and no copy has read", "核函数和复制都没有读取过的输入";
    UnwrittenResult => "A copy of uninitialized device memory to the host", "把未初始化的设备内存复制到了主机";
    UninitializedDevice => "A read of uninitialized device memory", "读取了未初始化的设备内存";
    UninitializedShared => "A read of uninitialized shared memory", "读取了未初始化的共享内存";
    UninitializedLocal => "A read of uninitialized local memory", "读取了未初始化的局部内存";
    OtherArray => "An index past the end of an array in shared memory", "下标超出了共享内存中的数组";
    ShuffleFromAbsentLane => "A shuffle that reads from inactive lanes", "洗牌指令读取了没有参与的线程";
    ReadAfterWrite =>
        "A data race: a read of data that another thread may not have written yet",
        "数据竞争：读取时，另一个线程可能还没有写完";
    WriteAfterRead =>
        "A data race: a write to data that another thread may not have read yet",
        "数据竞争：写入时，另一个线程可能还没有读完";
    WriteAfterWrite =>
        "A data race: two threads write to one location in an undefined order",
        "数据竞争：两个线程写同一位置，先后顺序不确定";
    ConflictingStore =>
        "A data race: one store writes different values to one location",
        "数据竞争：同一条存储指令向同一位置写入不同的值";
    CopyNotAwaited => "A use of data before its asynchronous copy has completed", "异步复制尚未完成就使用了数据";
    InterBlockRace =>
        "A data race: blocks access the same device memory, and one writes",
        "数据竞争：多个线程块访问同一处设备内存，其中有写入";
    DivergentBarrier => "A barrier that only part of a warp reaches", "线程束中只有一部分线程到达的同步屏障";
    EndedBeforeBarrier =>
        "A barrier that not all threads of the block reach: some have exited",
        "同步屏障：线程块中有线程已经结束，不会到达";
    MixedBarriers => "A barrier that threads reach at different locations", "各线程在代码的不同位置到达同一次同步";
    BarrierNeverOpens => "A barrier that never completes", "永远等不齐的同步屏障";
    GridBarrier => "A grid barrier in a launch that is not cooperative", "在非协作启动中使用网格同步";
    InvalidBarrier => "An invalid barrier", "无效的同步屏障";
    MaskLacksCaller => "A mask without the calling lane", "掩码不包含调用它的线程";
    AbsentLanes => "A mask with lanes that do not arrive", "掩码包含不会执行到此处的线程";
    WarpIncomplete =>
        "A whole-warp instruction executed by part of a warp", "不完整的线程束执行了要求整个线程束参与的指令";
    Leaked => "Memory that was not freed", "没有释放的内存";
    HostAccessed => "Host memory accessed while work in a stream uses it", "流中的工作还在使用主机内存时访问了它";
    StreamRace =>
        "A data race: streams use the same memory in no defined order, and one writes",
        "数据竞争：多个流不分先后地使用同一处内存，其中有写入";
    GraphRace =>
        "A data race: nodes of a graph use the same memory in no defined order, and one writes",
        "数据竞争：图的多个节点不分先后地使用同一处内存，其中有写入";
    FreedInUse => "Memory freed while work in a stream may still use it", "流中的工作可能还在使用内存时就释放了它";
    UsedBeforeAllocation =>
        "Memory used in a stream that does not wait for its allocation", "流没有等待内存分配完成就使用了它";
    HostChanged => "Host memory changed before a graph has copied it", "图还没有复制主机内存时改动了它";
}

/// Returns the likely cause of a finding in a file with this text; empty if none is known. `is_update`: the
/// racing threads update one location of device memory. If the lines give no hint, it is the simulator's cause.
pub fn likely_cause(finding: &Finding, is_update: bool, text: &str, lang: Lang) -> String {
    if let Some(
        Cause::NoBoundsCheck | Cause::MatrixBounds | Cause::LoopBounds | Cause::PastRows(_),
    ) = finding.likely_cause
    {
        // The simulator's cause names several. Suggest `<=` only if the submission contains one before the access.
        let before = finding.source.line as usize;
        let mut lines = text.lines().take(before);
        return match lines.any(|line| strip_comment(line).contains("<=")) {
            true => localize!(
                lang,
                "`<=` instead of `<`: one thread more than there are elements",
                "该写 `<` 的地方写成了 `<=`，结果比元素多一个线程参与"
            ),
            false => localize!(
                lang,
                "no `if (i < n)` that excludes threads past the end, or an `n` or stride that is \
                 not the number of elements",
                "没有用 `if (i < n)` 排除末尾之后的线程，或者 `n`、步长不是元素的个数"
            ),
        };
    }
    if is_update {
        // A barrier cannot separate the read and the write of one update.
        return localized(&Cause::SumWithoutAtomic, lang);
    }
    if let Some(advice) = likely_cause_in_lines(finding, text, lang) {
        return advice;
    }
    let cause = finding.likely_cause.as_ref();
    cause.map_or(String::new(), |cause| localized(cause, lang))
}

/// Returns the likely cause of a finding in a file with this text; `None` if the lines give no hint.
fn likely_cause_in_lines(finding: &Finding, text: &str, lang: Lang) -> Option<String> {
    let line = |number: u32| {
        let line = (number as usize).checked_sub(1);
        let line = line.and_then(|line| text.lines().nth(line));
        line.map_or("", strip_comment)
    };
    let line_number = finding.source.line;
    let other_line_number = finding.other.as_ref().map(|other| other.source.line);
    Some(match finding.kind {
        FindingKind::ReadAfterWrite | FindingKind::WriteAfterRead
            if other_line_number == Some(line_number) =>
        {
            localize!(
                lang,
                "a sum without `atomicAdd`, or a loop without a `__syncthreads()` in each iteration",
                "求和没有使用 `atomicAdd`，或者循环的每次迭代缺少 `__syncthreads()`"
            )
        }
        FindingKind::EndedBeforeBarrier => localized(&finding.missed_barrier_cause(text), lang),
        FindingKind::WriteAfterRead
            if finding.likely_cause == Some(Cause::MissingBarrierInLoop)
                && !has_barrier_between(text, line_number, other_line_number?) =>
        {
            localized(&Cause::MissingBarrier, lang)
        }
        FindingKind::UninitializedShared if line(line_number).contains("atomic") => localize!(
            lang,
            "a sum in shared memory that was not set to 0: shared memory is uninitialized at first",
            "共享内存中的和没有先清零：共享内存最初是未初始化的"
        ),
        FindingKind::CopyNotAwaited => localize!(
            lang,
            "a missing `__pipeline_wait_prior` (`cp.async.wait_group` in PTX), or one that leaves \
             too many copies in flight",
            "缺少 `__pipeline_wait_prior`（PTX 中为 `cp.async.wait_group`），或者它允许未完成的复制过多"
        ),
        FindingKind::BarrierNeverOpens => localize!(
            lang,
            "`__syncthreads()` in an `if` or a loop that not all threads of the block enter",
            "`__syncthreads()` 写在 `if` 或循环里，而线程块中有线程不会进入"
        ),
        FindingKind::InterBlockRace if other_line_number != Some(line_number) => localize!(
            lang,
            "blocks run in any order, some concurrently: a result written over the input, a sum \
             without `atomicAdd`, or no `__threadfence()` before signalling that a result is ready",
            "线程块的执行顺序不定，有些同时执行：结果写在了输入上，求和没有使用 `atomicAdd`，\
             或者在通知结果已写好之前缺少 `__threadfence()`"
        ),
        _ => return None,
    })
}

/// Returns true if there is a barrier between a line that writes and a later one that reads.
fn has_barrier_between(text: &str, write: u32, read: u32) -> bool {
    let after = text.lines().enumerate().skip(write as usize);
    let mut between = after.take_while(|(at, _)| at + 1 < read as usize);
    between.any(|(_, line)| strip_comment(line).contains("__syncthreads()"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn barriers_between_two_lines_are_found() {
        let text = "tile[t] = in[i];\n__syncthreads();\nout[i] = tile[t + 1];\n";
        assert!(has_barrier_between(text, 1, 3));
        assert!(!has_barrier_between(text, 2, 3) && !has_barrier_between(text, 3, 1));
        let text = "tile[t] = in[i];\n// no __syncthreads()\nout[i] = tile[t + 1];\n";
        assert!(!has_barrier_between(text, 1, 3));
    }
}

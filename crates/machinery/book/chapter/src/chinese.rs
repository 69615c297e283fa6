//! Chinese sentences about findings and faults. The simulator formats the same values in English.

use std::fmt::{self, Display, Formatter, LowerHex};

use cuda_driver::findings::{
    ActualMemory, AddressDetails, AddressedMemory, BlockBytes, BulkCopyMisuse, Bytes, Cause,
    Details, Extent, FaultKind, Fill, FillRead, FindingKind, HostAction, HostMemory, Lanes,
    MbarrierMisuse, NamedArray, Origin, OutsideTexture, PendingWork, StreamAction, StreamName,
    StreamOperation, StreamUse, TimeLimit, Unread, Unwritten, WarpgroupMisuse, Writer,
};
use cuda_driver::{
    AllocationCall, AllocationRecord, CallSite, Finding, Rows, Severity, SourceLine,
};

use crate::lang::Lang;

/// The file name of a student's submission, whose lines are `第 7 行` without the name.
pub const SUBMISSION: &str = "answer.cu";

/// A value that has a Chinese text.
pub trait Chinese {
    /// Writes the text.
    fn write(&self, f: &mut Formatter<'_>) -> fmt::Result;
}

/// Formats a value in a language.
pub fn localized<T: Display + Chinese>(value: &T, lang: Lang) -> String {
    match lang {
        Lang::En => value.to_string(),
        Lang::Zh => Zh(value).to_string(),
    }
}

/// Formats a finding in a language, as in the output of `--check`.
pub fn finding(finding: &Finding, lang: Lang) -> String {
    match lang {
        Lang::En => finding.to_string(),
        Lang::Zh => finding_zh(finding),
    }
}

/// Formats a finding in Chinese, with the lines that [`Finding`] has in English.
fn finding_zh(finding: &Finding) -> String {
    let severity = match finding.severity {
        Severity::Error => "错误",
        Severity::Warning => "警告",
    };
    let [first, last] = finding.ptx_lines;
    let times = match finding.count {
        ..=1 => String::new(),
        count if first < last => format!("（{count} 次，PTX 第 {first} 至 {last} 行）"),
        count => format!("（{count} 次）"),
    };
    let title = title(finding.kind, Lang::Zh);
    let mut lines = vec![format!("{severity}：{}：{title}{times}", finding.check)];
    let access = |[block, thread]: [[u32; 3]; 2]| {
        let triple = |[x, y, z]: [u32; 3]| format!("({x}, {y}, {z})");
        match finding.kind {
            FindingKind::InterBlockRace => format!("线程块 {}", triple(block)),
            _ => format!("线程块 {}，线程 {}", triple(block), triple(thread)),
        }
    };
    let action = |write, atomic| match (atomic, write) {
        (true, _) => "以原子操作更新",
        (false, true) => "写入",
        (false, false) => "读取",
    };
    if !finding.kernel.is_empty() {
        let by = match finding.kind {
            FindingKind::ExternArrays => String::new(),
            _ => format!("，{}", access([finding.block, finding.thread])),
        };
        lines.push(format!("  核函数 {}{by}", finding.kernel));
        let action = match finding.kind {
            FindingKind::ReadAfterWrite => action(false, false),
            FindingKind::WriteAfterRead
            | FindingKind::WriteAfterWrite
            | FindingKind::InterBlockRace => action(true, finding.atomic),
            _ => "",
        };
        lines.push(format!("  {action}位于 {}", finding.source));
    } else if finding.source.line > 0 && !matches!(finding.details, Details::Streams(..)) {
        lines.push(format!("  位于 {}", finding.source));
    }
    if let Some(other) = &finding.other {
        lines.push(format!(
            "  {}{}位于 {}",
            access([other.block, other.thread]),
            action(other.write, other.atomic),
            other.source
        ));
    }
    if finding.details != Details::None {
        lines.push(format!("  {}", Zh(&finding.details)));
    }
    if let Some(cause) = &finding.likely_cause {
        lines.push(format!("  可能的原因：{}", Zh(cause)));
    }
    lines.join("\n")
}

/// Formats a value in Chinese.
struct Zh<'a, T>(&'a T);

impl<T: Chinese> Display for Zh<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.write(f)
    }
}

impl<T: LowerHex> LowerHex for Zh<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Implements [`Chinese`] with one sentence per variant, like the simulator's macro `sentences`. The fields are
/// formatted in Chinese too.
macro_rules! chinese {
    ($($name:ident {
        $($variant:ident $({ $($field:ident),* })? $(($($value:ident),*))? => $text:literal $(, $argument:expr)*;)*
    })*) => {$(
        impl Chinese for $name {
            fn write(&self, f: &mut Formatter<'_>) -> fmt::Result {
                match self {
                    $($name::$variant $({ $($field),* })? $(($($value),*))? => {
                        $($(let $field = Zh($field);)*)?
                        $($(let $value = Zh($value);)*)?
                        write!(f, $text $(, $argument)*)
                    })*
                }
            }
        }
    )*};
}

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

const POINTER_TO_OTHER_MEMORY: &str = "把共享内存、局部变量或主机端的指针当成了设备内存的指针";

chinese! {
    Cause {
        NoBoundsCheck => "该写 `<` 的地方写成了 `<=`，或者没有用 `if (i < n)` 排除末尾之后的线程";
        MatrixBounds =>
            "大小不是分块或线程块的整数倍，而没有用 `if` 同时检查行和列；或者边界不对：用了另一个矩阵的边界，或者宽高颠倒";
        BytesForElements(bytes) => "给同样多的元素只分配了 {bytes}：分配和复制的大小以字节计，即 `n * sizeof(T)`";
        LoopBounds =>
            "循环或分块越过了末尾：大小不是分块或线程块的整数倍，该写 `<` 的地方写成了 `<=`，或者用了另一个数组的长度";
        PitchInElements(pitch) =>
            "pitch（{pitch}）被当成了元素的个数：第 `r` 行从 `(char *)base + r * pitch` 开始";
        PastRows(pitch) =>
            "没有检查行或列的边界，或者 pitch（{pitch}）被当成了元素的个数：第 `r` 行从 `(char *)base + r * pitch` 开始";
        NegativeIndex => "下标小于零：第一个元素的邻居，或者左侧的光环（halo）";
        WrappedIndex => "无符号下标减到了零以下，例如 `i` 为 0 时的 `i - 1`";
        OverflowedIndex => "`int` 溢出变成了负数：大数组中的 `blockIdx.x * blockDim.x`，或者行号乘宽度";
        WrongUnits => "下标的单位与数组不符：把字节当成元素，把 pitch 当成宽度，把行当成列；或者下标溢出了";
        UnsignedBound(condition) =>
            "如果有一个操作数是无符号数，`{condition}` 总是成立：小于 0 的差会回绕成很大的数。请不用减法来比较，例如 `i < n`，\
             或者先把操作数转换成有符号类型";
        PastConstantArray => "下标超出了 `__constant__` 数组";
        PastParameterArray => "下标超出了参数中的数组";
        PastSharedArray => "下标超出了 `__shared__` 数组";
        PastSharedOrExternArray => "下标超出了 `__shared__` 数组，或者启动时给 `extern` 数组的字节太少";
        NoDynamicSharedMemory => "声明了 `extern __shared__` 数组，而启动时没有给它字节";
        PastCluster =>
            "线程块的序号不小于集群中的线程块数：请对 `cluster.num_blocks()` 取模，或者启动更大的集群";
        PastLocalArray => "下标超出了核函数中声明的数组";
        OtherArraysSize => "下标大了一，或者用了另一个数组的长度";
        PointerToWiderType =>
            "把指针转换成更宽的类型（例如从不是每四个中第一个的 `float` 转换成 `float4`），\
             或者行的 pitch 不是该类型大小的整数倍";
        LocalUsedAsShared => "{POINTER_TO_OTHER_MEMORY}";
        LocalUsedElsewhere => "{POINTER_TO_OTHER_MEMORY}";
        SharedUsedAsDevice => "{POINTER_TO_OTHER_MEMORY}";
        FunctionUsedAsData => "{POINTER_TO_OTHER_MEMORY}";
        ConstantWritten => "通过指向 `__constant__` 变量的指针写入或做原子操作";
        NoPeerAccess => "{POINTER_TO_OTHER_MEMORY}";
        HostPointer => "{POINTER_TO_OTHER_MEMORY}";
        FreedPointer => "缓冲区已经释放，指针却还保留着";
        FreedInStream(line) => "内存已被 {line} 处的 `cudaFreeAsync` 释放：应在最后一次使用之后再释放";
        UnsetPointer => "指针从未赋值";
        KernelHeapExhausted(heap) =>
            "核函数中的 `malloc` 或 `new` 返回了空指针，因为 {heap}的堆已经用完：应释放内存，\
             或者在第一次启动之前调用 `cudaDeviceSetLimit(cudaLimitMallocHeapSize, bytes)`";
        DeepRecursion => "函数递归过深，或者无法结束；`cudaDeviceSetLimit(cudaLimitStackSize, bytes)` 可以增大栈";
        InvalidFunctionPointer => "函数指针取自主机端，或者从未赋值";
        SurfaceInElements => "表面（surface）的 x 坐标用了元素的个数：它以字节计，即 `x * sizeof(T)`";
        LibraryArguments => "规模、主维（leading dimension）、增量或步长与缓冲区不符；它们以元素计，不以字节计";
        BufferNotInitialized => "没有向它复制数据或清零，或者只初始化了一部分";
        ExternArraysOverlap =>
            "所有 `extern __shared__` 数组都是同一块内存：只声明一个，其余指针由它算出，例如 `int *second = first + n`";
        FillByBytes =>
            "`cudaMemset` 把每个字节设为一个整数，浮点数会被截断：请用核函数、`cudaMemcpy` 或 `cuMemsetD32` 逐个元素赋值";
        TextureNotInitialized =>
            "没有向数组复制数据，或者只复制了一部分：请用 `cudaMemcpy2DToArray` 复制（宽度以字节计），并检查返回值";
        SurfaceNotInitialized =>
            "表面的数组没有复制过数据，或者写入它的核函数写的元素比这个核函数读的少：x 以字节计，即 `x * sizeof(T)`";
        NormalizedCoordinates =>
            "没有设置 `normalizedCoords = 1` 时，`cudaAddressModeWrap`（默认值）和 `cudaAddressModeMirror` 等同于 clamp；\
             坐标应在 0 到 1 之间，例如 `(x + 0.5f) / width`";
        ResultIncomplete =>
            "线程太少：网格应向上取整，`(n + threads - 1) / threads`；下标跳过了一些元素，例如该写 `*` 的地方写成了 `+`；\
             或者复制的比结果多";
        ResultNotWritten => "核函数没有启动或者失败了，用错了缓冲区，或者复制的方向反了";
        InputPartlyRead =>
            "线程或循环的次数少于输入的元素，下标跳过了一些元素，用错了缓冲区，或者复制的比核函数需要的多";
        InputNotRead => "核函数没有启动或者失败了，读取的是另一个缓冲区，或者这些数据已经用不到了";
        PartNotInitialized(initialized, of) =>
            "{of}中只有前 {initialized}写入过：复制、设值或之前的启动覆盖的元素比这个核函数读取的少";
        GapsNotInitialized =>
            "这些字节前后的字节都写入过：结构体中有一个成员没有赋值，或者下标跳过了一些元素";
        ElementsNotBytes(initialized, of) =>
            "{of}中只有前 {initialized}写入过：复制或设值的大小用了元素的个数，而它以字节计，即 `n * sizeof(T)`";
        RowsNotInitialized(pitch) =>
            "有些行没有复制数据或清零，或者复制到了别的行：pitch（{pitch}）不是元素的个数，\
             第 `r` 行从 `(char *)base + r * pitch` 开始";
        PaddingOfRow(width) => "列超出了行的末尾：每行 {width}之后到 pitch 为止是补齐";
        TileNotLoaded => "分块的边缘或光环（halo）没有加载，或者有线程跳过了写入";
        SumNotInitialized => "共享内存中的计数器或累加和没有线程赋初值：应先赋初值，再 `__syncthreads()`";
        LocalNotInitialized => "线程自己的数组没有初始化，或者只初始化了一部分";
        MissingBarrier => "两行之间缺少 `__syncthreads()`";
        MissingBarrierInLoop =>
            "循环末尾、下一轮写入之前，或者使用同一数组的两次函数调用之间，缺少 `__syncthreads()`";
        MissingWarpSync => "两次访问之间缺少 `__syncwarp()`：线程束中的线程并不保证同步执行";
        StatementNeedsBarrier =>
            "一条语句既读又写其他线程使用的元素：应先读到变量里，再 `__syncthreads()`，然后写入";
        StatementNeedsWarpSync =>
            "一条语句既读又写线程束中其他线程使用的元素：应先读到变量里，再 `__syncwarp()`，然后写入";
        SumWithoutAtomic => "两个线程用了相同的下标，或者求和没有使用 `atomicAdd`";
        SameIndex => "几个线程的下标相同";
        LoadBeforeAtomic =>
            "其他线程用原子操作更新这个值，普通读取得到的可能是旧值：应使用原子操作返回的值，通过 `volatile` 指针读取，\
             或者用 `cuda::atomic_ref` 的 `load` 读取";
        DecidesByFlag =>
            "一些线程把标志或层数设成同一个值，另一些线程同时在判断它：如果新旧两个值都可以，就没有问题；\
             否则应用同步屏障或两个核函数把两者分开";
        TypesDiffer(own, other) =>
            "数组重叠了：同样的字节，一行当作 `{own}`，另一行当作 `{other}`。同一缓冲区中数组的偏移应以字节计，却用了元素的个数，\
             或者用了别的类型的元素个数，例如把 `buffer + n * sizeof(T)` 写成了 `buffer + n`";
        CopyNotAwaited => "缺少 `cp.async.wait_group`，或者它允许未完成的组过多";
        BulkCopyNotAwaited =>
            "还没有等待写入这些字节的批量复制完成：使用数据之前，每个线程都必须在该复制所报告的 mbarrier 上等待\
             （循环执行 `mbarrier.try_wait`，或者调用 `barrier.wait`）";
        BlockOrder => "线程块的执行顺序不定，有些同时执行：结果写在了输入上，或者跨线程块求和没有使用 `atomicAdd`";
        SameElementInBlocks =>
            "几个线程块写入同一个元素：下标漏了 `blockIdx.x * blockDim.x`，或者该写 `*` 的地方写成了 `+`";
        ResultOfAtomics =>
            "线程块的执行顺序不定，有些同时执行，其他线程块的部分可能还没有加上：应在之后的核函数里，\
             或者由最后完成的线程块读取结果";
        BlockScope =>
            "原子操作或有序访问的作用域只是线程块（`atomicAdd_block`、`cuda::thread_scope_block`），只在同一线程块的线程之间有效：\
             应使用作用域为设备的操作（`atomicAdd`、`cuda::thread_scope_device`）";
        MissingFence => "写入之后、用原子操作或标志通知其他线程块之前，缺少 `__threadfence()`";
        BarrierInBranch => "`__syncthreads()` 写在 `if` 里，或者写在各线程退出时机不同的循环里";
        ReturnBeforeBarrier => "在 `__syncthreads()` 之前就 `return` 了：没有数据的线程只应跳过计算，不应跳过同步";
        BarrierSkipped => "有线程没有执行 `__syncthreads()` 就结束或跳过了它：没有数据的线程只应跳过计算，不应跳过同步";
        BarrierInEachBranch => "`if` 的两个分支里各有一个 `__syncthreads()`，或者各线程束的循环次数不同";
        BarrierNotReached => "`__syncthreads()` 写在 `if` 里，有线程永远不会到达";
        NotCooperative =>
            "用 `<<<...>>>` 启动不能保证所有线程块同时驻留：请用 `cudaLaunchCooperativeKernel` 启动\
             （驱动 API 为 `cuLaunchCooperativeKernel`）";
        BarrierThreadCount => "线程数不是 32 的整数倍";
        MaskOfOtherLanes => "掩码是为另一些线程准备的";
        NumberAsMask(mask) =>
            "把通道的编号或个数 {mask} 当成了掩码：掩码中每个通道占一位，整个线程束是 0xffffffff";
        FullMaskInBranch =>
            "在 `if` 里使用了全满的掩码：请在 `if` 之前用 `__ballot_sync` 取得掩码，或者把调用移到外面";
        ShuffleBeyondMask =>
            "偏移超出了掩码中的线程：请给洗牌指令指定 `width`，或者只在被读取的线程属于掩码时使用结果";
        PartialWarp => "线程块的大小不是 32 的整数倍";
        ForgottenBuffer => "缓冲区被遗忘";
        StreamNotAwaited => "此前没有等待该流（`cudaStreamSynchronize` 或事件）";
        OtherStreamAwaited(using, awaited) =>
            "程序等待的是{awaited}，而不是{using}：请对{using}调用 `cudaStreamSynchronize`";
        HostEventEarly(stream) =>
            "程序等待的事件在{stream}中记录得太早，在该操作之前，所以不包含该操作：请在该操作之后调用 `cudaEventRecord`";
        HostEventEarlyAt(stream, record) =>
            "程序等待的事件在{stream}中记录得太早（{record}，在该操作之前），所以不包含该操作：\
             请在该操作之后调用 `cudaEventRecord`";
        EventEarly(later, earlier) =>
            "{later}等待的事件在{earlier}中记录得太早，在它的操作之前，所以不包含该操作：请在该操作之后调用 `cudaEventRecord`";
        EventEarlyAt(later, earlier, record) =>
            "{later}等待的事件在{earlier}中记录得太早（{record}，在它的操作之前），所以不包含该操作：\
             请在该操作之后调用 `cudaEventRecord`";
        NoEventBetween(later, earlier) =>
            "没有什么使{later}等待{earlier}：请在{earlier}的操作之后调用 `cudaEventRecord`，\
             再在{later}的操作之前调用 `cudaStreamWaitEvent`";
        NonBlockingStream(stream) =>
            "{stream}是用 `cudaStreamNonBlocking` 创建的，它与默认流互不等待：创建时不要加这个标志，\
             或者用 `cudaEventRecord` 和 `cudaStreamWaitEvent` 排定两个操作的先后";
        NodesWithoutEdge => "图的这两个节点之间没有依赖：请添加依赖；图由流捕获而来时，请在两个流之间添加事件";
        FreedInOtherStream(freeing, using) =>
            "内存在{freeing}中释放，而{freeing}没有等待{using}：请在最后使用它的流中释放，\
             或者在 `cudaFreeAsync` 之前调用 `cudaStreamWaitEvent`";
        FreedWithoutWait =>
            "`cudaFree` 不会等待还在使用 `cudaMallocAsync` 所分配内存的工作：请先调用 `cudaStreamSynchronize`，\
             或者在最后使用它的流中调用 `cudaFreeAsync`";
        AllocatedInOtherStream(using, allocating) =>
            "`cudaMallocAsync` 分配的内存要在分配之后才能使用：请用 `cudaEventRecord` 和 `cudaStreamWaitEvent` \
             使{using}等待{allocating}";
        MissingCall(function) => "没有调用 {function}";
    }

    Details {
        None => "";
        Block(bytes) => "{bytes}";
        LibraryRead(function, read, unwritten, first, allocation) =>
            "{function} 读取{allocation}的 {read} 字节，其中 {unwritten} 字节没有写入过，最先是第 {first} 字节";
        PastArray(bytes, at, byte, array) => "共享内存偏移 {at:#x} 处的 {bytes}：{array}的第 {byte} 字节";
        BeforeArray(bytes, at, distance, array) =>
            "共享内存偏移 {at:#x} 处的 {bytes}：{array}的开头之前 {distance}";
        Device(bytes, at) => "地址 {at:#x} 处的 {bytes}";
        PartOfAllocation(bytes, at, byte, allocation) => "地址 {at:#x} 处的 {bytes}：{allocation}的第 {byte} 字节";
        WholeAllocation(bytes, at, allocation) => "地址 {at:#x} 处的 {bytes}：{allocation}的全部";
        PartialArrival(arrived, live) => "线程束的 {live} 个线程中有 {arrived} 个在这里，其余的不在";
        DivergentArrival(arrived, live, elsewhere) =>
            "线程束的 {live} 个线程中有 {arrived} 个在这里，其余的不在，其中一个在{elsewhere}";
        ExitedThread(first) => "线程块中有 1 个线程已经结束，不会到达；最先结束的在{first}";
        ExitedThreads(threads, first) => "线程块中有 {threads} 个线程已经结束，不会到达；最先结束的在{first}";
        Mask(mask, wrong) => "掩码是 {:#010x}；通道 {wrong}", mask.0;
        Leak(allocation, kind) => "{allocation}，由 {} 分配", kind.0.function();
        ExternArrays(names) => "数组 {} 从同一个地址开始", names.0;
        ByteFill(value, fill, read, allocation) => "{fill}把每个字节设成了 {value}：{read}；内存是{allocation}";
        Texture(outside) => "{outside}";
        Unwritten(unwritten, allocation, writer) => "{allocation}：{unwritten}{writer}";
        Unread(unread) => "{unread}";
        Host(action, memory, work) => "程序{action}了{memory}，而{work}";
        Streams(later, earlier, bytes, byte, allocation) =>
            "{later}；{earlier}；涉及{allocation}中从第 {byte} 字节起的 {bytes}";
        Fault(kind) => "{kind}";
        AddressFault(kind, address) => "{kind}；{address}";
        UndetectedSize(kind) => "{kind}；GPU 检测不到：它只复制不超过该大小的 16 的倍数";
        UndetectedFault(kind, address, granule) =>
            "{kind}；{address}；GPU 检测不到这次访问，因为它按 {granule}的倍数分配内存";
    }

    Fill {
        Unknown => "此前的 cudaMemset ";
        At(source) => "{} 处的 cudaMemset ", source.0;
    }

    FillRead {
        Float(bits) => "float 读到 {:.5e}", f32::from_bits(*bits.0);
        Double(bits) => "double 读到 {:.5e}", f64::from_bits(*bits.0);
        Integer(value) => "整数读到 {value}（{value:#x}）";
    }

    OutsideTexture {
        X(at, texels) => "x 落在纹素 {at}，而纹理在 x 方向有 {texels} 个纹素";
        Y(at, texels) => "y 落在纹素 {at}，而纹理在 y 方向有 {texels} 个纹素";
        Z(at, texels) => "z 落在纹素 {at}，而纹理在 z 方向有 {texels} 个纹素";
    }

    Unwritten {
        All(copied) => "复制的 {copied}都没有写入过";
        Bytes(unwritten, copied, first) =>
            "复制的 {copied} 字节中有 {unwritten} 字节没有写入过，最先是第 {first} 字节";
        Elements(unwritten, copied, width, first) =>
            "复制的 {copied} 个元素（每个 {width}）中有 {unwritten} 个没有写入过，最先是第 {first} 个";
    }

    Unread {
        All(bytes, origin, allocation) => "{origin}{allocation}的 {bytes}从未读取过";
        Bytes(unread, bytes, origin, allocation, first) =>
            "{origin}{allocation}的 {bytes} 字节中有 {unread} 字节从未读取过，最先是第 {first} 字节";
        Elements(unread, elements, width, origin, allocation, first) =>
            "{origin}{allocation}的 {elements} 个元素（每个 {width}）中有 {unread} 个从未读取过，最先是第 {first} 个";
    }

    Origin {
        Copied => "从主机复制到";
        Set => "用 memset 填入";
    }

    Writer {
        None => "";
        Kernel(name) => "；核函数 {name} 写入了其他元素";
    }

    BlockBytes {
        Shared(bytes, at) => "共享内存偏移 {at:#x} 处的 {bytes}";
        Local(bytes, at) => "局部内存偏移 {at:#x} 处的 {bytes}";
    }

    AddressDetails {
        Constants(bytes) => "模块的常量共占 {bytes}";
        Parameters(bytes) => "参数共占 {bytes}";
        NoSharedMemory => "线程块没有共享内存";
        NoSuchBlock(blocks) => "集群只有 {blocks} 个线程块，序号从 0 开始";
        BeforeArray(distance, array) => "在{array}的开头之前 {distance} 处";
        BeforeShared(distance) => "在线程块的共享内存之前 {distance} 处";
        BeforeLocal => "在线程的局部内存之前";
        BetweenLocals => "超出了某个调用了当前函数的函数的局部变量";
        Before(distance, allocation) => "在{allocation}之前 {distance} 处";
        AtEnd(of) => "紧接在{of}的末尾之后";
        AcrossEnd(distance, of) => "从{of}的末尾之前 {distance} 处开始";
        PastEnd(distance, of) => "在{of}的末尾之后 {distance} 处";
        WrappedPast(allocation) => "比{allocation}多出将近 2^32 个元素";
        Freed(byte, allocation) => "{allocation}的第 {byte} 字节，该内存已释放";
        Null => "地址为空";
        NullPlus(offset) => "空指针加 {offset}";
        NullMinus(offset) => "空指针减 {offset}";
        NothingAllocated => "没有分配任何内存";
        Misaligned(excess) => "比整数倍多 {excess}";
        WrongSpace(actual) => "存储空间不对：{actual}";
    }

    Extent {
        Allocation(allocation) => "{allocation}";
        Shared(bytes) => "线程块的 {bytes}共享内存";
        Array(array) => "{array}";
        Local(bytes) => "线程的 {bytes}局部内存";
    }

    ActualMemory {
        OwnThread => "这是线程自己的内存中的地址";
        Shared => "这是共享内存中的地址";
        CodeOrParameters => "这是代码或参数的地址";
        Constant => "这是常量内存中的地址，核函数只能读取";
        Host => "这是主机内存中的地址";
        OtherDevice(device) => "这是设备 {device} 的内存，本设备无权访问";
    }

    HostAction {
        Reads => "读取";
        Writes => "写入";
        Changed => "改动";
    }

    HostMemory {
        Allocated(byte, allocation) => "{allocation}的第 {byte} 字节";
        Unallocated(at) => "地址 {at:#x} 处的主机内存";
    }

    PendingWork {
        Operation(operation) => "{operation}";
        GraphCopy(bytes) => "已启动的图还没有复制它（{bytes} 字节）";
    }

    StreamOperation {
        At(action, stream, verb, line) => "{stream}中的{action}{verb}（在 {line} 调用）";
        Unlocated(action, stream, verb) => "{stream}中的{action}{verb}";
    }

    StreamAction {
        Kernel(name) => "核函数 {name} ";
        NodeKernel(name) => "图的核函数 {name} ";
        Copy(bytes) => "一次 {bytes}的复制";
        NodeCopy(bytes) => "图中一次 {bytes}的复制";
        Fill(bytes) => "一次 {bytes}的 memset ";
        NodeFill(bytes) => "图中一次 {bytes}的 memset ";
        Library(function) => "库函数 `{function}` ";
        NodeLibrary(function) => "图中的 `{function}` ";
        Allocation => "调用 `cudaMallocAsync` ";
        AsyncFree => "调用 `cudaFreeAsync` ";
        Free => "调用 `cudaFree` ";
    }

    StreamName {
        Default => "默认流";
        DefaultOfDevice(device) => "设备 {device} 的默认流";
        DefaultOfThread => "线程各自的默认流";
        Created(number) => "流 {number}";
        NonBlocking(number) => "非阻塞流 {number}";
        Host => "主机线程";
    }

    StreamUse {
        Reads => "读取内存";
        Writes => "写入内存";
        Updates => "以原子操作更新内存";
        Allocates => "分配内存";
        Frees => "释放内存";
    }

    FaultKind {
        IllegalAddress { address, bytes, write, memory } => "非法地址：{}，不在任何已分配的{memory}之内",
            if *write.0 { format!("向 {address:#x} 写入 {bytes} 字节") } else { format!("从 {address:#x} 读取 {bytes} 字节") };
        IllegalOperand { function, address, bytes, write } => "非法地址：{function} {}，不在任何已分配的全局内存之内",
            if *write.0 { format!("向 {address:#x} 写入 {bytes} 字节") } else { format!("从 {address:#x} 读取 {bytes} 字节") };
        IllegalClusterAddress { rank, offset, bytes, write } => "非法地址：{}",
            if *write.0 {
                format!("向集群中线程块 {rank} 的共享内存偏移 {offset:#x} 处写入 {bytes} 字节")
            } else {
                format!("从集群中线程块 {rank} 的共享内存偏移 {offset:#x} 处读取 {bytes} 字节")
            };
        MisalignedClusterAddress { rank, offset, bytes } =>
            "地址未对齐：集群中线程块 {rank} 的共享内存偏移 {offset:#x} 不是 {bytes} 的整数倍";
        MisalignedAddress { address, bytes } => "地址未对齐：{address:#x} 不是 {bytes} 的整数倍";
        MisalignedSurface { x, bytes } => "表面（surface）坐标未对齐：x 是第 {x} 字节，不是 {bytes} 的整数倍";
        Trap => "核函数自行中止";
        GridBarrier => "在非协作启动中使用了网格同步（`grid.sync()`），核函数中止";
        Breakpoint => "断点：没有调试器时执行了 brkpt";
        StackOverflow { needed, limit } =>
            "栈溢出：这次调用使每个线程需要 {needed} 字节局部内存，上限是 {limit} 字节";
        CallsTooDeep { limit } => "栈溢出：线程块中尚未返回的调用所占的寄存器超过 {} MB", limit.0 >> 20;
        InvalidCall { address } => "通过不是函数的指针 {address:#x} 调用";
        Assert { message } => "assert 不成立：{message}";
        BarrierNeverOpens { barrier, arrived, expected } =>
            "第 {barrier} 号同步屏障永远等不齐：已有 {arrived} 个线程在等，需要 {expected} 个，其余的到不了这里";
        WarpSyncNeverOpens { members } =>
            "线程束同步永远等不齐：掩码 {:#010x} 中有到不了这里的通道", members.0;
        WarpIncomplete { alive } =>
            "线程束不完整：这条指令要求 32 个线程都在，而这里只有 {} 个：线程块的大小应是 32 的整数倍，\
             并且之前不能有线程结束", alive.0.count_ones();
        WarpgroupIncomplete =>
            "线程束组不完整：这条指令要求 128 个线程都在，即从 4 的整数倍开始的四个线程束，而这里不全：\
             线程块的大小应是 128 的整数倍，并且之前不能有线程结束";
        Warpgroup(misuse) => "wgmma：{misuse}";
        InvalidBarrier { barrier, count } =>
            "无效的同步屏障：编号 {barrier}（只有 0 到 15），线程数 {count}（应是 32 的整数倍）";
        InvalidFree { address } => "释放 {address:#x}：它不是核函数中 malloc 给出的地址，或者已经释放过";
        NoGraphCondition { handle } =>
            "cudaGraphSetConditional：{handle:#x} 不是 cudaGraphConditionalHandleCreate 给出的句柄";
        NoImage { handle } => "没有句柄为 {handle:#x} 的纹理或表面对象，或者其内存已经释放";
        UnboundReference { name } => "纹理或表面引用 `{name}` 没有绑定，或者其内存已经释放";
        Mbarrier(misuse) => "mbarrier：{misuse}";
        BulkCopy(misuse) => "批量复制：{misuse}";
        Interrupted { ended, blocks } => "核函数被中断；{blocks} 个线程块中有 {ended} 个已经结束";
        Timeout { limit, ended, blocks } => "{limit}；{blocks} 个线程块中有 {ended} 个已经结束";
    }

    AddressedMemory {
        Device => "全局内存";
        Constant => "常量内存";
        Shared => "共享内存";
        Local => "局部内存";
        Parameters => "核函数参数";
        Generic => "内存";
        Surface => "表面";
    }

    WarpgroupMisuse {
        Unfenced => "第一条 `wgmma.mma_async` 之前没有 `wgmma.fence`";
        NotAwaited =>
            "线程结束前没有等待其矩阵乘法完成：使用结果之前要先有 `wgmma.commit_group`，再有 `wgmma.wait_group`";
        DifferentDescriptors => "同一线程束的线程给出了不同的矩阵描述符";
        MisplacedSwizzle =>
            "交错存放的矩阵必须从 8 行（1024、512 或 256 字节）的整数倍处开始，或者从其中第一行之内开始";
        BaseOffset => "没有模拟带基址偏移的描述符：请让矩阵从 1024 字节的整数倍处开始";
    }

    MbarrierMisuse {
        TooManyArrivals => "到达的线程比这一阶段预期的多：初始化时给它的线程数对吗？";
        CompletesPhase => "不得使阶段完成的到达（noComplete）使它完成了";
        TooManyBytes => "预期的字节数超出了它的计数范围";
        InvalidCount => "线程数为 0，或者大于 1048575";
    }

    BulkCopyMisuse {
        InvalidSize(bytes) => "大小为 {bytes} 字节，不是 16 的倍数";
        NotTensorMap(address) =>
            "{address:#x} 处没有张量映射：请把 CUtensorMap 作为 `const __grid_constant__` 参数传递，或者复制到全局内存";
        InvalidTensorMap => "张量映射无效：`tensormap.replace` 把它改得不符合 cuTensorMapEncodeTiled 的要求";
        OtherRank(expected, actual) => "指令从 {expected} 维数组复制，而张量映射有 {actual} 维";
        OtherMode => "指令的模式（tile 或 im2col）与张量映射不符";
        NoReduction => "张量映射的元素类型没有这种归约";
        MisalignedStart(bytes) => "第一个坐标位于一行的第 {bytes} 字节，不是 16 的倍数";
        NegativeCoordinate(coordinate) => "坐标 {coordinate} 是负数，只有向共享内存的复制才允许";
        OutsideBox(coordinate) => "第一个像素的坐标 {coordinate} 在 im2col 张量映射的边界框之外";
    }

    TimeLimit {
        Launch(limit) => "核函数的运行超过了 {} 秒的时间限制", limit.0.as_secs_f64();
        Standstill(limit) => "{} 秒内没有线程块结束", limit.0.as_secs_f64();
    }
}

macro_rules! same_in_both_languages {
    ($($type:ty),*) => {$(
        impl Chinese for $type {
            fn write(&self, f: &mut Formatter<'_>) -> fmt::Result {
                Display::fmt(self, f)
            }
        }
    )*};
}

same_in_both_languages!(u8, u32, u64, i64, String, CallSite);

impl Chinese for Bytes {
    fn write(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} 字节", self.0)
    }
}

impl Chinese for Lanes {
    fn write(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.list("、", "–"))
    }
}

impl Chinese for AllocationRecord {
    fn write(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let AllocationRecord {
            bytes, base, order, ..
        } = self;
        match (&self.name, &self.call) {
            (Some(name), _) => write!(f, "`{name}`（{bytes} 字节）"),
            (None, call) => {
                match call {
                    Some(call) => write!(f, "{}的 {bytes} 字节（", Zh(&**call))?,
                    None => write!(f, "位于 {base:#x} 的 {bytes} 字节的分配（")?,
                }
                write!(f, "第 {order} 次分配")?;
                if let Some(Rows { width, pitch }) = self.rows {
                    write!(f, "，每行 {width} 字节，pitch 为 {pitch} 字节")?;
                }
                f.write_str("）")
            }
        }
    }
}

impl Chinese for AllocationCall {
    fn write(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} 处由 `{}` 分配", self.site, self.function)?;
        match &self.variable {
            Some(variable) => write!(f, "给 `{variable}` "),
            None => Ok(()),
        }
    }
}

impl Chinese for NamedArray {
    fn write(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "数组 `{}`（{}）", self.name, Zh(&self.bytes))
    }
}

impl Chinese for SourceLine {
    fn write(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.file.as_deref() == Some(SUBMISSION) && self.line > 0 {
            true => write!(f, "第 {} 行", self.line),
            false => write!(f, " {self}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde::de::DeserializeOwned;

    use super::*;

    /// Returns the numbers of a text.
    fn numbers(text: &str) -> impl Iterator<Item = &str> {
        let words = text.split(|character: char| !character.is_ascii_alphanumeric());
        let numbers = words.filter(|word| word.starts_with(|first: char| first.is_ascii_digit()));
        numbers.map(|word| word.trim_end_matches("st"))
    }

    /// Checks all variants of an enum: each Chinese text has the numbers of the English one.
    fn check_all<T: Display + Chinese + DeserializeOwned>() {
        for variant in 0.. {
            // All fields are 1: numbers, enums and lengths of strings.
            let mut bytes = [1; 64];
            bytes[0] = variant;
            let value: T = match postcard::from_bytes(&bytes) {
                Ok(value) => value,
                Err(error) => {
                    let has_all = error == postcard::Error::SerdeDeCustom && variant > 1;
                    return assert!(has_all, "variant {variant}: {error}");
                }
            };
            let (english, chinese) = (value.to_string(), Zh(&value).to_string());
            assert!(
                english.is_empty() || !chinese.is_ascii(),
                "{english}: {chinese}"
            );
            let mut numbers_of_english = numbers(&english);
            let has_number = |number| numbers(&chinese).any(|other| other == number);
            assert!(numbers_of_english.all(has_number), "{english}: {chinese}");
        }
    }

    /// Fields that a Chinese sentence does not use are compiler warnings.
    #[test]
    fn every_variant_has_a_chinese_text() {
        check_all::<Cause>();
        check_all::<Details>();
        check_all::<BlockBytes>();
        check_all::<AddressDetails>();
        check_all::<Extent>();
        check_all::<ActualMemory>();
        check_all::<HostAction>();
        check_all::<HostMemory>();
        check_all::<PendingWork>();
        check_all::<Fill>();
        check_all::<FillRead>();
        check_all::<OutsideTexture>();
        check_all::<Unwritten>();
        check_all::<Unread>();
        check_all::<Origin>();
        check_all::<StreamOperation>();
        check_all::<StreamAction>();
        check_all::<StreamName>();
        check_all::<StreamUse>();
        check_all::<FaultKind>();
        check_all::<AddressedMemory>();
        check_all::<WarpgroupMisuse>();
        check_all::<MbarrierMisuse>();
        check_all::<BulkCopyMisuse>();
        check_all::<TimeLimit>();
    }

    #[test]
    fn sentences_and_their_parts_are_translated() {
        let record = |bytes, base, order| AllocationRecord {
            base,
            bytes,
            order,
            name: None,
            rows: None,
            call: None,
        };
        let table = AllocationRecord {
            name: Some("table".to_owned()),
            ..record(64, 0, 0)
        };
        let illegal_address = FaultKind::IllegalAddress {
            address: 0x7f00,
            bytes: 4,
            write: true,
            memory: AddressedMemory::Device,
        };
        let line = SourceLine {
            file: Some(SUBMISSION.to_owned()),
            line: 7,
            ptx_line: 70,
            is_nearest: false,
        };
        let bytes = Bytes(4);
        for (details, chinese) in [
            (
                Details::AddressFault(
                    illegal_address,
                    AddressDetails::AtEnd(Extent::Allocation(record(124, 0x7e00, 3))),
                ),
                "非法地址：向 0x7f00 写入 4 字节，不在任何已分配的全局内存之内；\
                 紧接在位于 0x7e00 的 124 字节的分配（第 3 次分配）的末尾之后",
            ),
            (
                Details::PastArray(
                    bytes,
                    0x40,
                    64,
                    NamedArray {
                        name: "tile".to_owned(),
                        bytes: Bytes(64),
                    },
                ),
                "共享内存偏移 0x40 处的 4 字节：数组 `tile`（64 字节）的第 64 字节",
            ),
            (
                Details::DivergentArrival(31, 32, line),
                "线程束的 32 个线程中有 31 个在这里，其余的不在，其中一个在第 7 行",
            ),
            (
                Details::PartOfAllocation(bytes, 0x10, 8, record(16, 0x8, 12)),
                "地址 0x10 处的 4 字节：位于 0x8 的 16 字节的分配（第 12 次分配）的第 8 字节",
            ),
            (
                Details::Mask(0xffff, Lanes(0b11_1101)),
                "掩码是 0x0000ffff；通道 0、2–5",
            ),
            (Details::Device(bytes, 0x30), "地址 0x30 处的 4 字节"),
        ] {
            assert_eq!(Zh(&details).to_string(), chinese, "{details}");
        }
        let past_table = AddressDetails::PastEnd(Bytes(1020), Extent::Allocation(table));
        assert_eq!(
            Zh(&past_table).to_string(),
            "在`table`（64 字节）的末尾之后 1020 字节 处"
        );
        assert_eq!(
            Zh(&FaultKind::Warpgroup(WarpgroupMisuse::Unfenced)).to_string(),
            "wgmma：第一条 `wgmma.mma_async` 之前没有 `wgmma.fence`"
        );
    }
}

//! Counters in plain Chinese; in English the simulator has them.

/// What a counter is called, by Nsight Compute's name for it.
pub fn chinese(name: &str) -> Option<&'static str> {
    Some(match name {
        "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum" => "全局内存读取请求数",
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum" => "全局内存读取扇区数",
        "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum" => "全局内存写入请求数",
        "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum" => "全局内存写入扇区数",
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum" => "一级缓存命中的读取扇区数",
        "lts__t_sectors_srcunit_tex_op_read.sum" => "从二级缓存读取的扇区数",
        "idc__requests.sum" => "常量内存请求数",
        "idc__requests_lookup_hit.sum" => "常量缓存命中的请求数",
        "smsp__inst_executed_op_shared_ld.sum" => "共享内存读取指令数",
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum" => "共享内存读取波前数",
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum" => "共享内存读取的存储体冲突数",
        "smsp__inst_executed_op_shared_st.sum" => "共享内存写入指令数",
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum" => "共享内存写入波前数",
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum" => "共享内存写入的存储体冲突数",
        "smsp__inst_executed_op_ldsm.sum" => "矩阵读取请求数",
        "smsp__inst_executed_op_ldgsts.sum" => "异步拷贝请求数",
        "smsp__inst_executed_pipe_tensor_op_hmma.sum" => "矩阵乘法指令数",
        "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum" => "本地内存读取请求数",
        "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum" => "本地内存读取扇区数",
        "l1tex__t_requests_pipe_lsu_mem_local_op_st.sum" => "本地内存写入请求数",
        "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum" => "本地内存写入扇区数",
        "smsp__sass_inst_executed_op_global_atom.sum" => "全局内存原子操作请求数",
        "smsp__inst_executed_op_shared_atom.sum" => "共享内存原子操作请求数",
        "smsp__inst_executed.sum" => "线程束指令数",
        "smsp__thread_inst_executed.sum" => "线程指令数",
        "smsp__inst_executed_op_branch.sum" => "分支数",
        "smsp__sass_branch_targets_threads_divergent.sum" => "发散的分支数",
        "warps_at_barriers" => "到达同步的线程束数",
        _ => return None,
    })
}

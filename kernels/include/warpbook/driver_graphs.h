// The driver API's functions for graphs and stream capture.
//
// Included by cuda.h, inside `extern "C"`.

// Graphs and their nodes
CUresult cuGraphCreate(CUgraph *to, unsigned int flags);
CUresult cuGraphDestroy(CUgraph graph);
CUresult cuGraphClone(CUgraph *to, CUgraph graph);
CUresult cuGraphNodeFindInClone(CUgraphNode *to, CUgraphNode node, CUgraph clone);
CUresult cuGraphDestroyNode(CUgraphNode node);
CUresult cuGraphAddKernelNode(CUgraphNode *to, CUgraph graph, const CUgraphNode *after, size_t
    count, const CUDA_KERNEL_NODE_PARAMS_v1 *how);
CUresult cuGraphAddKernelNode_v2(CUgraphNode *to, CUgraph graph, const CUgraphNode *after, size_t
    count, const CUDA_KERNEL_NODE_PARAMS *how);
CUresult cuGraphAddMemcpyNode(CUgraphNode *to, CUgraph graph, const CUgraphNode *after, size_t
    count, const CUDA_MEMCPY3D *how, CUcontext context);
CUresult cuGraphAddMemsetNode(CUgraphNode *to, CUgraph graph, const CUgraphNode *after, size_t
    count, const CUDA_MEMSET_NODE_PARAMS *how, CUcontext context);
CUresult cuGraphAddHostNode(CUgraphNode *to, CUgraph graph, const CUgraphNode *after, size_t count,
    const CUDA_HOST_NODE_PARAMS *how);
CUresult cuGraphAddEmptyNode(CUgraphNode *to, CUgraph graph, const CUgraphNode *after, size_t
    count);
CUresult cuGraphAddChildGraphNode(CUgraphNode *to, CUgraph graph, const CUgraphNode *after, size_t
    count, CUgraph child);
CUresult cuGraphAddEventRecordNode(CUgraphNode *to, CUgraph graph, const CUgraphNode *after, size_t
    count, CUevent event);
CUresult cuGraphAddEventWaitNode(CUgraphNode *to, CUgraph graph, const CUgraphNode *after, size_t
    count, CUevent event);
CUresult cuGraphAddMemAllocNode(CUgraphNode *to, CUgraph graph, const CUgraphNode *after, size_t
    count, CUDA_MEM_ALLOC_NODE_PARAMS *how);
CUresult cuGraphAddMemFreeNode(CUgraphNode *to, CUgraph graph, const CUgraphNode *after, size_t
    count, CUdeviceptr address);
CUresult cuGraphAddNode(CUgraphNode *to, CUgraph graph, const CUgraphNode *after, size_t count,
    CUgraphNodeParams *how);
CUresult cuGraphAddNode_v2(CUgraphNode *to, CUgraph graph, const CUgraphNode *after, const
    CUgraphEdgeData *edges, size_t count, CUgraphNodeParams *how);
CUresult cuGraphAddExternalSemaphoresSignalNode(CUgraphNode *to, CUgraph graph, const CUgraphNode
    *after, size_t count, const void *how);
CUresult cuGraphExternalSemaphoresSignalNodeGetParams(CUgraphNode node, void *to);
CUresult cuGraphExternalSemaphoresSignalNodeSetParams(CUgraphNode node, const void *how);
CUresult cuGraphExecExternalSemaphoresSignalNodeSetParams(CUgraphExec exec, CUgraphNode node, const
    void *how);
CUresult cuGraphAddExternalSemaphoresWaitNode(CUgraphNode *to, CUgraph graph, const CUgraphNode
    *after, size_t count, const void *how);
CUresult cuGraphExternalSemaphoresWaitNodeGetParams(CUgraphNode node, void *to);
CUresult cuGraphExternalSemaphoresWaitNodeSetParams(CUgraphNode node, const void *how);
CUresult cuGraphExecExternalSemaphoresWaitNodeSetParams(CUgraphExec exec, CUgraphNode node, const
    void *how);
CUresult cuGraphAddBatchMemOpNode(CUgraphNode *to, CUgraph graph, const CUgraphNode *after, size_t
    count, const void *how);
CUresult cuGraphBatchMemOpNodeGetParams(CUgraphNode node, void *to);
CUresult cuGraphBatchMemOpNodeSetParams(CUgraphNode node, const void *how);
CUresult cuGraphExecBatchMemOpNodeSetParams(CUgraphExec exec, CUgraphNode node, const void *how);
CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle *to, CUgraph graph, CUcontext context,
    unsigned int value, unsigned int flags);

// Parameters of nodes
CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1 *to);
CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *to);
CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1 *how);
CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *how);
CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D *to);
CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D *how);
CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *to);
CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *how);
CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS *to);
CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS *how);
CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *to);
CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent *to);
CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event);
CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent *to);
CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event);
CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS *to);
CUresult cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr *to);
CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams *how);
CUresult cuGraphKernelNodeGetAttribute(CUgraphNode node, CUlaunchAttributeID attribute,
    CUlaunchAttributeValue *to);
CUresult cuGraphKernelNodeSetAttribute(CUgraphNode node, CUlaunchAttributeID attribute, const
    CUlaunchAttributeValue *from);
CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from);

// Structure of graphs
CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *to);
CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *to, size_t *count);
CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode *to, size_t *count);
CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count);
CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData
    *data, size_t *count);
CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *to, size_t *count);
CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode *to, CUgraphEdgeData *data,
    size_t *count);
CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *to, size_t *count);
CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode *to, CUgraphEdgeData *data,
    size_t *count);
CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
    size_t count);
CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
    const CUgraphEdgeData *data, size_t count);
CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
    size_t count);
CUresult cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
    const CUgraphEdgeData *data, size_t count);
CUresult cuGraphDebugDotPrint(CUgraph graph, const char *path, unsigned int flags);

// Executable graphs
CUresult cuGraphInstantiate(CUgraphExec *to, CUgraph graph, CUgraphNode *error_node, char *log,
    size_t room);
CUresult cuGraphInstantiate_v2(CUgraphExec *to, CUgraph graph, CUgraphNode *error_node, char *log,
    size_t room);
CUresult cuGraphInstantiateWithFlags(CUgraphExec *to, CUgraph graph, unsigned long long flags);
CUresult cuGraphInstantiateWithParams(CUgraphExec *to, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS
    *how);
CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec *to, CUgraph graph,
    CUDA_GRAPH_INSTANTIATE_PARAMS *how);
CUresult cuGraphExecGetFlags(CUgraphExec exec, cuuint64_t *to);
CUresult cuGraphExecDestroy(CUgraphExec exec);
CUresult cuGraphUpload(CUgraphExec exec, CUstream stream);
CUresult cuGraphUpload_ptsz(CUgraphExec exec, CUstream stream);
CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream);
CUresult cuGraphLaunch_ptsz(CUgraphExec exec, CUstream stream);
CUresult cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node, unsigned int enabled);
CUresult cuGraphNodeGetEnabled(CUgraphExec exec, CUgraphNode node, unsigned int *to);
CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode *error_node,
    CUgraphExecUpdateResult *result);
CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *to);
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node, const
    CUDA_KERNEL_NODE_PARAMS_v1 *how);
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node, const
    CUDA_KERNEL_NODE_PARAMS *how);
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D
    *how, CUcontext context);
CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node, const
    CUDA_MEMSET_NODE_PARAMS *how, CUcontext context);
CUresult cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node, const
    CUDA_HOST_NODE_PARAMS *how);
CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraph child);
CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event);
CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event);
CUresult cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams *how);

// Objects retained by graphs
CUresult cuUserObjectCreate(CUuserObject *to, void *data, CUhostFn destroy, unsigned int references,
    unsigned int flags);
CUresult cuUserObjectRetain(CUuserObject object, unsigned int count);
CUresult cuUserObjectRelease(CUuserObject object, unsigned int count);
CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned int count, unsigned
    int flags);
CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned int count);
CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute, void *value);
CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute, void *value);
CUresult cuDeviceGraphMemTrim(CUdevice device);

// Capture
CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned int flags);
CUresult cuEventRecordWithFlags_ptsz(CUevent event, CUstream stream, unsigned int flags);
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode);
CUresult cuStreamBeginCapture(CUstream stream);
CUresult cuStreamBeginCapture_ptsz(CUstream stream);
CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode);
CUresult cuStreamBeginCapture_v2_ptsz(CUstream stream, CUstreamCaptureMode mode);
CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph, const CUgraphNode *after, const
    CUgraphEdgeData *edges, size_t count, CUstreamCaptureMode mode);
CUresult cuStreamBeginCaptureToGraph_ptsz(CUstream stream, CUgraph graph, const CUgraphNode *after,
    const CUgraphEdgeData *edges, size_t count, CUstreamCaptureMode mode);
CUresult cuStreamEndCapture(CUstream stream, CUgraph *to);
CUresult cuStreamEndCapture_ptsz(CUstream stream, CUgraph *to);
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *to);
CUresult cuStreamIsCapturing_ptsz(CUstream stream, CUstreamCaptureStatus *to);
CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus *to, cuuint64_t *id);
CUresult cuStreamGetCaptureInfo_ptsz(CUstream stream, CUstreamCaptureStatus *to, cuuint64_t
    *id);
CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus *to, cuuint64_t
    *id, CUgraph *graph, const CUgraphNode **nodes, size_t *count);
CUresult cuStreamGetCaptureInfo_v2_ptsz(CUstream stream, CUstreamCaptureStatus *to, cuuint64_t *id, CUgraph *graph, const CUgraphNode **nodes, size_t *count);
CUresult cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus *to, cuuint64_t
    *id, CUgraph *graph, const CUgraphNode **nodes, const CUgraphEdgeData **edges, size_t *count);
CUresult cuStreamGetCaptureInfo_v3_ptsz(CUstream stream, CUstreamCaptureStatus *to, cuuint64_t *id, CUgraph *graph, const CUgraphNode **nodes, const CUgraphEdgeData **edges, size_t
    *count);
CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode *nodes, size_t count,
    unsigned int flags);
CUresult cuStreamUpdateCaptureDependencies_ptsz(CUstream stream, CUgraphNode *nodes, size_t count,
    unsigned int flags);
CUresult cuStreamUpdateCaptureDependencies_v2(CUstream stream, CUgraphNode *nodes, const
    CUgraphEdgeData *edges, size_t count, unsigned int flags);
CUresult cuStreamUpdateCaptureDependencies_v2_ptsz(CUstream stream, CUgraphNode *nodes, const
    CUgraphEdgeData *edges, size_t count, unsigned int flags);

// Functions that have changed since they were introduced keep their old name in programs.
#define cuGraphAddKernelNode cuGraphAddKernelNode_v2
#define cuGraphKernelNodeGetParams cuGraphKernelNodeGetParams_v2
#define cuGraphKernelNodeSetParams cuGraphKernelNodeSetParams_v2
#define cuGraphExecKernelNodeSetParams cuGraphExecKernelNodeSetParams_v2
#define cuGraphInstantiate cuGraphInstantiateWithFlags
#define cuGraphExecUpdate cuGraphExecUpdate_v2
#define cuStreamBeginCapture cuStreamBeginCapture_v2
#define cuStreamGetCaptureInfo cuStreamGetCaptureInfo_v2

// Functions of the runtime API that are not there: each answers cudaErrorNotSupported and says its name on
// stderr. They are declared so that programs compile which use them in a part that is not run.
//
// Read by cuda_runtime_api.h, inside `extern "C"`.

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
    WARPBOOK_PER_THREAD(cudaStreamBeginCapture_ptsz);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *pGraph)
    WARPBOOK_PER_THREAD(cudaStreamEndCapture_ptsz);
cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode);
cudaError_t cudaGraphCreate(cudaGraph_t *pGraph, unsigned int flags);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const
    cudaGraphNode_t *pDependencies, size_t numDependencies, const struct cudaKernelNodeParams
    *pNodeParams);
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const
    cudaGraphNode_t *pDependencies, size_t numDependencies, const struct cudaMemcpy3DParms
    *pCopyParams);
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const
    cudaGraphNode_t *pDependencies, size_t numDependencies, void *dst, const void *src, size_t
    count, enum cudaMemcpyKind kind);
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const
    cudaGraphNode_t *pDependencies, size_t numDependencies, const struct cudaMemsetParams
    *pMemsetParams);
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const
    cudaGraphNode_t *pDependencies, size_t numDependencies, const struct cudaHostNodeParams
    *pNodeParams);
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const
    cudaGraphNode_t *pDependencies, size_t numDependencies);
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const
    cudaGraphNode_t *pDependencies, size_t numDependencies, cudaGraph_t childGraph);
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const
    cudaGraphNode_t *to, size_t numDependencies);
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *numNodes);
cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const struct cudaKernelNodeParams
    *pNodeParams);
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
    const struct cudaKernelNodeParams *pNodeParams);
cudaError_t cudaGraphClone(cudaGraph_t *pGraphClone, cudaGraph_t originalGraph);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *pGraphExec, cudaGraph_t graph, unsigned long
    long flags WARPBOOK_DEFAULT(0));
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *pGraphExec, cudaGraph_t graph, unsigned
    long long flags WARPBOOK_DEFAULT(0));
cudaError_t cudaGraphUpload(cudaGraphExec_t graphExec, cudaStream_t stream)
    WARPBOOK_PER_THREAD(cudaGraphUpload_ptsz);
cudaError_t cudaGraphLaunch(cudaGraphExec_t graphExec, cudaStream_t stream)
    WARPBOOK_PER_THREAD(cudaGraphLaunch_ptsz);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graphExec);
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *devPtr);
cudaError_t cudaIpcOpenMemHandle(void **devPtr, cudaIpcMemHandle_t handle, unsigned int flags);
cudaError_t cudaIpcCloseMemHandle(void *devPtr);
cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle, cudaEvent_t event);
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *event, cudaIpcEventHandle_t handle);
cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *mipmappedArray, const struct
    cudaChannelFormatDesc *desc, struct cudaExtent extent, unsigned int numLevels, unsigned int
    flags WARPBOOK_DEFAULT(0));
cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t mipmappedArray);
cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t *levelArray, cudaMipmappedArray_const_t
    mipmappedArray, unsigned int level);
cudaError_t cudaGetTextureObjectResourceViewDesc(struct cudaResourceViewDesc *pResViewDesc,
    cudaTextureObject_t texObject);
cudaError_t cudaMemRangeGetAttribute(void *data, size_t dataSize, enum cudaMemRangeAttribute
    attribute, const void *devPtr, size_t count);
cudaError_t cudaGraphicsUnregisterResource(cudaGraphicsResource_t resource);
cudaError_t cudaGraphicsMapResources(int count, cudaGraphicsResource_t *resources, cudaStream_t
    stream WARPBOOK_DEFAULT(0));
cudaError_t cudaGraphicsUnmapResources(int count, cudaGraphicsResource_t *resources, cudaStream_t
    stream WARPBOOK_DEFAULT(0));
cudaError_t cudaGraphicsResourceGetMappedPointer(void **devPtr, size_t *size,
    cudaGraphicsResource_t resource);

// Functions that cuda.h of CUDA 13 declares only in a later version, or not at all.
//
// cuda.h defines the name without a suffix as the latest version; here it is the first one.

#pragma once

#undef cuEventElapsedTime
#undef cuGraphAddDependencies
#undef cuGraphAddNode
#undef cuGraphGetEdges
#undef cuGraphNodeGetDependencies
#undef cuGraphNodeGetDependentNodes
#undef cuGraphRemoveDependencies
#undef cuDeviceGetUuid
#undef cuStreamUpdateCaptureDependencies

CUresult cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device);
CUresult cuCtxCreate_v3(CUcontext *context, CUexecAffinityParam *affinities, int count, unsigned int flags,
                        CUdevice device);
CUresult cuCtxAttach(CUcontext *context, unsigned int flags);
CUresult cuCtxDetach(CUcontext context);
CUresult cuProfilerStart(void);
CUresult cuProfilerStop(void);
CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device);
CUresult cuEventElapsedTime(float *milliseconds, CUevent begin, CUevent end);
CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
                                   const CUgraphNode **dependencies, size_t *count);
CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode *dependencies, size_t count,
                                           unsigned int flags);
CUresult cuGraphAddNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                        CUgraphNodeParams *parameters);
CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count);
CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count);
CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count);
CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *dependencies, size_t *count);
CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *dependents, size_t *count);

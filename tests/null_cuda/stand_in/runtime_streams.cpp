// Streams, events and recordings of the runtime's stand-in.
#include <cstddef>

#include "tests/null_cuda/stand_in/ledger.h"
#include "tests/null_cuda/stand_in/runtime.h"
#include "tests/null_cuda/stand_in/settings.h"
#include "tests/null_cuda/stand_in/streams.h"

using namespace null_cuda;

extern "C" {

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned /*flags*/, int /*priority*/) {
  *stream = reinterpret_cast<cudaStream_t>(new Stream);
  return cudaSuccess;
}

// Never freed: a handle could come again, and its state is asked for while the process ends.
cudaError_t cudaStreamDestroy(cudaStream_t /*stream*/) { return cudaSuccess; }

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  const Lock lock(mutex());
  if (const cudaError_t error = state(); error != cudaSuccess) return error;
  const bool refused = is_refused_of(stream_of(stream), "cudaStreamSynchronize") || is_refused("cudaStreamSynchronize");
  if (refused) return result(cudaErrorStreamCaptureUnsupported);
  ++counts().waits;
  return cudaSuccess;
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  const Lock lock(mutex());
  if (const cudaError_t error = state(); error != cudaSuccess) return error;
  return result(is_refused_of(stream_of(stream), "cudaStreamQuery") ? cudaErrorStreamCaptureUnsupported : cudaSuccess);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t /*stream*/, cudaEvent_t /*event*/, unsigned /*flags*/) {
  const Lock lock(mutex());
  return state();
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned /*flags*/) {
  {
    const Lock lock(mutex());
    if (const cudaError_t error = state(); error != cudaSuccess) return error;
    if (is_refused_of(stream_of(stream), "cudaStreamAddCallback")) return result(cudaErrorStreamCaptureUnsupported);
  }
  callback(stream, cudaSuccess, data);
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode /*mode*/) {
  const Lock lock(mutex());
  if (const cudaError_t error = state(); error != cudaSuccess) return error;
  if (is_default(stream) || stream_of(stream).capturing) return result(cudaErrorStreamCaptureUnsupported);
  begin_capture(stream_of(stream));
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  const Lock lock(mutex());
  Stream& ended = stream_of(stream);
  *graph = nullptr;
  if (!ended.capturing) return result(cudaErrorIllegalState);
  end_capture(ended);
  if (const cudaError_t error = state(); error != cudaSuccess) return error;
  if (ended.spoiled || fails("record")) return result(cudaErrorStreamCaptureInvalidated);
  *graph = reinterpret_cast<cudaGraph_t>(new std::size_t(ended.nodes));
  return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  const Lock lock(mutex());
  *status = stream_of(stream).capturing ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle, cudaStreamCaptureStatus* status, unsigned long long* id,
                                     cudaGraph_t* graph, const cudaGraphNode_t** dependencies,
                                     const cudaGraphEdgeData** edges, std::size_t* count) {
  const Lock lock(mutex());
  Stream& stream = stream_of(handle);
  *status = stream.capturing ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  if (id != nullptr) *id = stream.id;
  if (graph != nullptr) *graph = reinterpret_cast<cudaGraph_t>(&stream.nodes);
  if (dependencies != nullptr) *dependencies = nullptr;
  if (edges != nullptr) *edges = nullptr;
  if (count != nullptr) *count = 0;
  return cudaSuccess;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  const bool was_strict = exchange_strict(*mode != cudaStreamCaptureModeRelaxed);
  *mode = was_strict ? cudaStreamCaptureModeGlobal : cudaStreamCaptureModeRelaxed;
  return cudaSuccess;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* /*nodes*/, std::size_t* count) {
  *count = *reinterpret_cast<std::size_t*>(graph);
  return cudaSuccess;
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t /*node*/, cudaGraphNode_t* /*dependencies*/,
                                         cudaGraphEdgeData* /*edges*/, std::size_t* count) {
  *count = 0;
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph,
                                          unsigned long long /*flags*/) {
  const Lock lock(mutex());
  if (const cudaError_t error = state(); error != cudaSuccess) return error;
  if (fails("instantiate")) return result(cudaErrorMemoryAllocation);
  *executable = reinterpret_cast<cudaGraphExec_t>(new std::size_t(*reinterpret_cast<std::size_t*>(graph)));
  return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t /*executable*/, cudaStream_t stream) {
  const Lock lock(mutex());
  if (const cudaError_t error = state(); error != cudaSuccess) return error;
  enqueue(stream, "the replay of a recording");
  ++counts().graph_launches;
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete reinterpret_cast<std::size_t*>(graph);
  return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  delete reinterpret_cast<std::size_t*>(executable);
  return cudaSuccess;
}

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t /*graph*/, const char* /*path*/, unsigned /*flags*/) {
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned /*flags*/) {
  *event = reinterpret_cast<cudaEvent_t>(new char);
  return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, 0); }

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete reinterpret_cast<char*>(event);
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t /*event*/, cudaStream_t /*stream*/) {
  const Lock lock(mutex());
  return state();
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned /*flags*/) {
  return cudaEventRecord(event, stream);
}

cudaError_t cudaEventQuery(cudaEvent_t /*event*/) {
  const Lock lock(mutex());
  if (const cudaError_t error = state(); error != cudaSuccess) return error;
  return result(is_refused("cudaEventQuery") ? cudaErrorStreamCaptureUnsupported : cudaSuccess);
}

cudaError_t cudaEventSynchronize(cudaEvent_t /*event*/) {
  const Lock lock(mutex());
  if (const cudaError_t error = state(); error != cudaSuccess) return error;
  if (is_refused("cudaEventSynchronize")) return result(cudaErrorStreamCaptureUnsupported);
  ++counts().waits;
  return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t /*begin*/, cudaEvent_t /*end*/) {
  *milliseconds = 1;
  return cudaSuccess;
}

}  // extern "C"

// cuBLAS: products are counted.
#include <cublas_v2.h>

#include "tests/null_cuda/stand_in/ledger.h"
#include "tests/null_cuda/stand_in/streams.h"

struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
  cublasPointerMode_t pointers = CUBLAS_POINTER_MODE_HOST;
};

namespace null_cuda {
namespace {

cublasStatus_t product(cublasHandle_t handle, const char* name) {
  const Lock lock(mutex());
  if (lasting_error() != 0) return CUBLAS_STATUS_EXECUTION_FAILED;
  if (fails("blas")) return CUBLAS_STATUS_ALLOC_FAILED;
  enqueue(handle->stream, name);
  ++counts().products;
  started(name);
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace
}  // namespace null_cuda

using namespace null_cuda;

extern "C" {

cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  const Lock lock(mutex());
  if (lasting_error() != 0) return CUBLAS_STATUS_NOT_INITIALIZED;
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetWorkspace(cublasHandle_t /*handle*/, void* /*workspace*/, size_t /*bytes*/) {
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  *mode = handle->math;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  handle->math = mode;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t* mode) {
  *mode = handle->pointers;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode) {
  handle->pointers = mode;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSgemm(cublasHandle_t handle, cublasOperation_t /*of_a*/, cublasOperation_t /*of_b*/, int /*m*/,
                           int /*n*/, int /*k*/, const float* /*alpha*/, const float* /*a*/, int /*lda*/,
                           const float* /*b*/, int /*ldb*/, const float* /*beta*/, float* /*c*/, int /*ldc*/) {
  return product(handle, "cublasSgemm");
}

cublasStatus_t cublasDgemm(cublasHandle_t handle, cublasOperation_t /*of_a*/, cublasOperation_t /*of_b*/, int /*m*/,
                           int /*n*/, int /*k*/, const double* /*alpha*/, const double* /*a*/, int /*lda*/,
                           const double* /*b*/, int /*ldb*/, const double* /*beta*/, double* /*c*/, int /*ldc*/) {
  return product(handle, "cublasDgemm");
}

cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t /*of_a*/, cublasOperation_t /*of_b*/,
                                         int /*m*/, int /*n*/, int /*k*/, const float* /*alpha*/, const float* /*a*/,
                                         int /*lda*/, long long /*stride_a*/, const float* /*b*/, int /*ldb*/,
                                         long long /*stride_b*/, const float* /*beta*/, float* /*c*/, int /*ldc*/,
                                         long long /*stride_c*/, int /*batch*/) {
  return product(handle, "cublasSgemmStridedBatched");
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t /*of_a*/, cublasOperation_t /*of_b*/, int /*m*/,
                            int /*n*/, int /*k*/, const void* /*alpha*/, const void* /*a*/, cudaDataType /*type*/,
                            int /*lda*/, const void* /*b*/, cudaDataType /*type_b*/, int /*ldb*/, const void* /*beta*/,
                            void* /*c*/, cudaDataType /*type_c*/, int /*ldc*/, cublasComputeType_t /*compute*/,
                            cublasGemmAlgo_t /*algorithm*/) {
  return product(handle, "cublasGemmEx");
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t /*of_a*/, cublasOperation_t /*of_b*/,
                                          int /*m*/, int /*n*/, int /*k*/, const void* /*alpha*/, const void* /*a*/,
                                          cudaDataType /*type*/, int /*lda*/, long long /*stride_a*/, const void* /*b*/,
                                          cudaDataType /*type_b*/, int /*ldb*/, long long /*stride_b*/,
                                          const void* /*beta*/, void* /*c*/, cudaDataType /*type_c*/, int /*ldc*/,
                                          long long /*stride_c*/, int /*batch*/, cublasComputeType_t /*compute*/,
                                          cublasGemmAlgo_t /*algorithm*/) {
  return product(handle, "cublasGemmStridedBatchedEx");
}

cublasStatus_t cublasSgemv(cublasHandle_t handle, cublasOperation_t /*of_a*/, int /*m*/, int /*n*/,
                           const float* /*alpha*/, const float* /*a*/, int /*lda*/, const float* /*x*/, int /*step_x*/,
                           const float* /*beta*/, float* /*y*/, int /*step_y*/) {
  return product(handle, "cublasSgemv");
}

cublasStatus_t cublasSdot(cublasHandle_t handle, int /*n*/, const float* /*x*/, int /*step_x*/, const float* /*y*/,
                          int /*step_y*/, float* /*result*/) {
  return product(handle, "cublasSdot");
}

cublasStatus_t cublasDgemmStridedBatched(cublasHandle_t handle, cublasOperation_t /*of_a*/, cublasOperation_t /*of_b*/,
                                         int /*m*/, int /*n*/, int /*k*/, const double* /*alpha*/, const double* /*a*/,
                                         int /*lda*/, long long /*stride_a*/, const double* /*b*/, int /*ldb*/,
                                         long long /*stride_b*/, const double* /*beta*/, double* /*c*/, int /*ldc*/,
                                         long long /*stride_c*/, int /*batch*/) {
  return product(handle, "cublasDgemmStridedBatched");
}

cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t /*of_a*/, cublasOperation_t /*of_b*/, int /*m*/,
                             int /*n*/, int /*k*/, const float* /*alpha*/, const void* /*a*/, cudaDataType /*type*/,
                             int /*lda*/, const void* /*b*/, cudaDataType /*type_b*/, int /*ldb*/,
                             const float* /*beta*/, void* /*c*/, cudaDataType /*type_c*/, int /*ldc*/) {
  return product(handle, "cublasSgemmEx");
}

cublasStatus_t cublasDgemv(cublasHandle_t handle, cublasOperation_t /*of_a*/, int /*m*/, int /*n*/,
                           const double* /*alpha*/, const double* /*a*/, int /*lda*/, const double* /*x*/,
                           int /*step_x*/, const double* /*beta*/, double* /*y*/, int /*step_y*/) {
  return product(handle, "cublasDgemv");
}

cublasStatus_t cublasDdot(cublasHandle_t handle, int /*n*/, const double* /*x*/, int /*step_x*/, const double* /*y*/,
                          int /*step_y*/, double* /*result*/) {
  return product(handle, "cublasDdot");
}

cublasStatus_t cublasDotEx(cublasHandle_t handle, int /*n*/, const void* /*x*/, cudaDataType /*type*/, int /*step_x*/,
                           const void* /*y*/, cudaDataType /*type_y*/, int /*step_y*/, void* /*result*/,
                           cudaDataType /*type_result*/, cudaDataType /*compute*/) {
  return product(handle, "cublasDotEx");
}

}  // extern "C"

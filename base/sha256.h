// SHA-256, as lower-case hexadecimal text.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/files.h"

struct evp_md_ctx_st;  // OpenSSL's EVP_MD_CTX

namespace xlm {

/// Hashes bytes piece by piece.
class Sha256 {
 public:
  Sha256();

  void update(const void* data, std::size_t bytes);
  void update(std::string_view text) { update(text.data(), text.size()); }
  /// 64 hexadecimal digits. The object cannot be used afterwards.
  std::string finish();

 private:
  struct FreeContext {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, FreeContext> context_;
};

std::string sha256(std::string_view text);
std::string sha256_file(const fs::path& path);

}  // namespace xlm

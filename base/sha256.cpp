// SHA-256 with OpenSSL.
#include "base/sha256.h"

#include <array>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/evp.h>

#include "base/error.h"

namespace xlm {

void Sha256::FreeContext::operator()(evp_md_ctx_st* context) const { EVP_MD_CTX_free(context); }

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  if (!context_ || EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) != 1) {
    throw ResourceError("cannot start a SHA-256 hash");
  }
}

void Sha256::update(const void* data, std::size_t bytes) { EVP_DigestUpdate(context_.get(), data, bytes); }

std::string Sha256::finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  EVP_DigestFinal_ex(context_.get(), digest.data(), &length);
  return fmt::format("{:02x}", fmt::join(digest.data(), digest.data() + length, ""));
}

std::string sha256(std::string_view text) {
  Sha256 hash;
  hash.update(text);
  return hash.finish();
}

std::string sha256_file(const fs::path& path) {
  InputFile file(path);  // not mapped: a map of a file that is truncated meanwhile would end the program
  std::vector<char> buffer(std::size_t{1} << 20U);
  Sha256 hash;
  while (const std::size_t count = file.read(buffer.data(), buffer.size())) hash.update(buffer.data(), count);
  return hash.finish();
}

}  // namespace xlm

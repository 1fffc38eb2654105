// SHA-256 with OpenSSL.
#include "base/sha256.h"

#include <array>
#include <vector>

#include <fmt/format.h>
#include <openssl/evp.h>

#include "base/error.h"

namespace xlm {

struct Sha256::Context {
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> evp{EVP_MD_CTX_new(), &EVP_MD_CTX_free};
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  if (!context_->evp || EVP_DigestInit_ex(context_->evp.get(), EVP_sha256(), nullptr) != 1) {
    throw ResourceError("cannot start a SHA-256 hash");
  }
}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(const void* data, std::size_t bytes) { EVP_DigestUpdate(context_->evp.get(), data, bytes); }

std::string Sha256::finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  EVP_DigestFinal_ex(context_->evp.get(), digest.data(), &length);
  std::string text;
  for (unsigned int i = 0; i < length; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
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

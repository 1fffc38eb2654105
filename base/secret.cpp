// Secrets, computed with OpenSSL.
#include "base/secret.h"

#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include "base/error.h"

namespace xlm {

std::string fresh_secret() {
  std::array<unsigned char, kSecretLength / 2> bytes{};
  if (RAND_bytes(bytes.data(), bytes.size()) != 1) throw Error("the system has no random numbers");
  return fmt::format("{:02x}", fmt::join(bytes, ""));
}

std::string proof(std::string_view secret, std::string_view text) {
  std::array<unsigned char, kSecretLength / 2> digest{};
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  if (HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()), bytes, text.size(), digest.data(), nullptr) ==
      nullptr) {
    throw Error("cannot compute an HMAC");
  }
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

bool same_proof(std::string_view one, std::string_view other) {
  return one.size() == other.size() && CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

}  // namespace xlm

// Secrets, computed with OpenSSL.
#include "base/secret.h"

#include <array>
#include <span>

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include "base/error.h"

namespace xlm {
namespace {

std::string hexadecimal(std::span<const unsigned char> bytes) {
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace

std::string fresh_secret() {
  std::array<unsigned char, kSecretLength / 2> bytes{};
  if (RAND_bytes(bytes.data(), bytes.size()) != 1) throw Error("the system has no random numbers");
  return hexadecimal(bytes);
}

std::string proof(std::string_view secret, std::string_view text) {
  std::array<unsigned char, kSecretLength / 2> digest{};
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  if (HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()), bytes, text.size(), digest.data(), nullptr) ==
      nullptr) {
    throw Error("cannot compute an HMAC");
  }
  return hexadecimal(digest);
}

bool same_proof(std::string_view one, std::string_view other) {
  return one.size() == other.size() && CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

}  // namespace xlm

// Secrets that processes share, and proofs that another process knows the same secret.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace xlm {

/// The length of a secret and of a proof: 256 bits in hexadecimal digits.
constexpr std::size_t kSecretLength = 64;

/// A new secret from the system's random numbers. Throws Error if the system has none.
std::string fresh_secret();

/// HMAC-SHA256 of `text` under `secret`.
std::string proof(std::string_view secret, std::string_view text);

/// Whether two proofs are equal. The time it takes does not reveal where they differ.
bool same_proof(std::string_view one, std::string_view other);

}  // namespace xlm

// CRC-32C, masked.
#include "base/crc32c.h"

#include <boost/crc.hpp>

namespace xlm {

std::uint32_t masked_crc32c(std::string_view bytes) {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc;  // Castagnoli's polynomial
  crc.process_bytes(bytes.data(), bytes.size());
  const auto sum = static_cast<std::uint32_t>(crc.checksum());
  return (sum >> 15U | sum << 17U) + 0xA282EAD8U;
}

}  // namespace xlm

// The checksum of records in TFRecord files and TensorBoard's event files.
#pragma once

#include <cstdint>
#include <string_view>

namespace xlm {

/// CRC-32C, rotated and shifted ("masked") so that checksums of data that hold checksums stay sound.
std::uint32_t masked_crc32c(std::string_view bytes);

}  // namespace xlm

#pragma once
// The bytes of a file in order, unpacked where it is gzip.
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace roofcast::validation {

class ByteStream {
 public:
  ByteStream() = default;
  ByteStream(const ByteStream&) = delete;
  ByteStream(ByteStream&&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;
  ByteStream& operator=(ByteStream&&) = delete;
  virtual ~ByteStream() = default;
  /// At most `size` bytes, and 0 only at the end. Throws SpecError.
  virtual std::size_t read(char* to, std::size_t size) = 0;
};

/// Throws SpecError where there is no such file.
std::unique_ptr<ByteStream> open_bytes(const std::string& path);

/// Of a text that outlives the stream.
std::unique_ptr<ByteStream> bytes_of(std::string_view text);

/// What is left of the stream. Throws SpecError beyond `most` bytes.
std::string read_all(ByteStream& stream, const std::string& file, std::size_t most);

}  // namespace roofcast::validation

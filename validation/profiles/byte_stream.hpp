#pragma once
// Sequential bytes of a file; gzip is decompressed.
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
  /// Reads up to `size` bytes and returns their number, 0 only at the end. Throws SpecError.
  virtual std::size_t read(char* to, std::size_t size) = 0;
};

/// Opens a file. Throws SpecError if it cannot be opened.
std::unique_ptr<ByteStream> open_bytes(const std::string& path);

/// A stream over `text`, which must outlive it.
std::unique_ptr<ByteStream> bytes_of(std::string_view text);

/// The rest of the stream. Throws SpecError if it exceeds `most` bytes; `file` is for the message.
std::string read_all(ByteStream& stream, const std::string& file, std::size_t most);

}  // namespace roofcast::validation

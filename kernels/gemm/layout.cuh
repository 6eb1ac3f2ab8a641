#pragma once
// Layouts: which element of a matrix instruction a lane's register holds, and where tiles lie in
// shared memory. Plain arithmetic that the kernels use and tests/kernels/gemm_layout_test.cpp
// checks without a GPU.
//
// Everything is counted in bytes, since then all types agree: one step of mma.sync takes 32 bytes
// of k (16 elements of 2 bytes, 8 of 4), and one step of wgmma as well. A `line` is a row of a tile
// in shared memory, a `chunk` 16 bytes of it: what ldmatrix, cp.async and the swizzle move as one.
#include <cuda_runtime.h>

#include <cstdint>

namespace roofcast::cuda::gemm {

inline constexpr int kChunkBytes = 16;
inline constexpr int kStepBytes = 32;    ///< bytes of k that one matrix instruction takes
inline constexpr int kPanelBytes = 128;  ///< bytes of a line of a swizzled panel

/// Byte offset of a chunk in its line. Lines of 32 to 256 bytes are swizzled, a line of 256
/// as two of 128. Lines of 128 bytes have the swizzle of TMA and wgmma (CU_TENSOR_MAP_SWIZZLE_128B:
/// bits 4-6 of the offset are xored with bits 7-9), so their tile must begin at a multiple of 1024
/// bytes. Chunks of one column in eight neighbouring lines lie in different banks, so ldmatrix has
/// no conflict. The offset depends on the line modulo 8 only.
template <int kLineBytes>
__host__ __device__ constexpr int swizzled_chunk(int line, int chunk) {
  static_assert(kLineBytes == 32 || kLineBytes == 64 || kLineBytes == 128 || kLineBytes == 256);
  if (kLineBytes == 32) return (chunk ^ ((line >> 2) & 1)) * kChunkBytes;
  return (chunk ^ (kLineBytes == 64 ? (line >> 1) & 3 : line & 7)) * kChunkBytes;
}
template <int kLineBytes>
__host__ __device__ constexpr int swizzled(int line, int chunk) {
  return line * kLineBytes + swizzled_chunk<kLineBytes>(line, chunk);
}

struct LineChunk {
  int line, chunk;
};

/// ldmatrix.x4 takes the address of line r of matrix i from lane 8·i + r, and gives lane l the
/// bytes 4·(l mod 4) … +3 of line l/4 of matrix i in register i (PTX ISA, ldmatrix).
///
/// A, 16 rows by 32 bytes: rows 0-7, rows 8-15, then the second 16 bytes of both. These are the
/// four registers of A of mma.m16n8k16 (PTX ISA, "Matrix fragments for mma.m16n8k16") and of
/// mma.m16n8k8 with tf32.
__host__ __device__ constexpr LineChunk a_address(int lane) {
  return {lane % 16, lane / 16};
}
/// A stored by rows of k (a line holds rows of A): 16 lines of k by 16 rows of 2 bytes, read with
/// .trans into the same registers.
__host__ __device__ constexpr LineChunk a_address_transposed(int lane) {
  return {lane % 8 + lane / 16 * 8, lane / 8 % 2};
}
/// B stored by columns (a line holds k): 16 columns by 32 bytes, two registers for each of two
/// tiles of 8 columns.
__host__ __device__ constexpr LineChunk b_address(int lane) {
  return {lane % 8 + lane / 16 * 8, lane / 8 % 2};
}
/// B stored by rows (a line holds columns): 16 lines of k by 16 columns of 2 bytes, read with
/// .trans, which gives lane l the elements of column l/4, lines 2·(l mod 4) and +1: the same
/// registers.
__host__ __device__ constexpr LineChunk b_address_transposed(int lane) {
  return {lane % 16, lane / 16};
}

struct Place {
  int row, column;
};

/// Element i of the four sums of mma.m16n8 in a 16×8 tile. wgmma.m64nN has the same pattern: warp w
/// of the four has rows 16·w … 16·w+15, and sums 4·j … 4·j+3 belong to columns 8·j … 8·j+7 (PTX
/// ISA, "Register fragments and shared memory matrix layouts for wgmma.mma_async").
__host__ __device__ constexpr Place sum_place(int lane, int i) {
  return {lane / 4 + i / 2 * 8, lane % 4 * 2 + i % 2};
}

/// stmatrix.x4, the inverse: lane 8·i + r gives the address of line r of matrix i. The registers
/// are two rows of eight of two neighbouring 8-column tiles: {tile, rows 0-7}, {tile, rows 8-15},
/// {tile + 1, rows 0-7}, {tile + 1, rows 8-15}. An 8-column tile of 2 bytes is a chunk.
__host__ __device__ constexpr LineChunk sum_address(int lane) {
  return {lane % 16, lane / 16};
}

/// stmatrix.x4.trans, for lines that hold rows of the sums: the same registers are rows 0-7 and
/// rows 8-15 of columns 0-7, then of columns 8-15; a column is a line, 8 rows of 2 bytes are a
/// chunk of it.
__host__ __device__ constexpr LineChunk sum_address_transposed(int lane) {
  return {lane % 8 + lane / 16 * 8, lane / 8 % 2};
}

/// How the lines of a tile in shared memory map to the matrix.
enum class Lines {
  along_k,   ///< line i holds the k of the tile's row i; the next tile lies along the row
  across_k,  ///< panels of up to 128 bytes of columns, a line per row of k; the next lies below
};

/// A tile of kCount lines of kBytes. A panel has kPanel lines.
template <Lines kLines_, int kCount_, int kBytes_, int kPanel_ = kCount_>
struct LineTile {
  static constexpr Lines kLines = kLines_;
  static constexpr int kCount = kCount_, kBytes = kBytes_, kPanel = kPanel_;
  static constexpr int kTileBytes = kCount * kBytes;
  static_assert(kLines == Lines::along_k || kBytes <= kPanelBytes);
  static_assert(kCount % kPanel == 0 && kPanel % 8 == 0);

  /// Byte offset of a chunk in its line; it depends on the line modulo 8 only.
  __host__ __device__ static constexpr int chunk_offset(int line, int chunk) {
    return swizzled_chunk<kBytes>(line, chunk);
  }
  __host__ __device__ static constexpr int offset(int line, int chunk) {
    return line * kBytes + chunk_offset(line, chunk);
  }
  /// Row and column, relative to the tile's origin in the matrix, of the first element of a chunk
  /// of kWidth elements.
  template <int kWidth>
  __host__ __device__ static constexpr Place source(int line, int chunk) {
    if (kLines == Lines::along_k) return {line, chunk * kWidth};
    return {line % kPanel, (line / kPanel * (kBytes / kChunkBytes) + chunk) * kWidth};
  }
};

/// gemm.mma_sync: the byte offset in A's tile that a lane gives to ldmatrix, for the 16 rows from
/// `row` on and step `step` of k. `row` is a multiple of 16. In lines along k the next 16 rows lie
/// 16 lines further; panels are read with .trans.
template <class A>
__host__ __device__ constexpr int a_offset(int row, int step, int lane) {
  if constexpr (A::kLines == Lines::across_k) {
    constexpr int kSize = 2, kPanelRows = A::kBytes / kSize;
    const LineChunk at = a_address_transposed(lane);
    return (row / kPanelRows * A::kPanel + step * kStepBytes / kSize + at.line) * A::kBytes +
           A::chunk_offset(at.line, row % kPanelRows / 8 + at.chunk);
  }
  const LineChunk at = a_address(lane);
  return (row + at.line) * A::kBytes +
         A::chunk_offset(at.line, step * kStepBytes / kChunkBytes + at.chunk);
}
/// The byte offset in B's tile, for the 8-column tiles `q` and q + 1 counted from `column`, a
/// multiple of 16; q is even. Panels are read with .trans.
template <class B>
__host__ __device__ constexpr int b_offset(int column, int q, int step, int lane) {
  if constexpr (B::kLines == Lines::along_k) {
    const LineChunk at = b_address(lane);
    return (column + q * 8 + at.line) * B::kBytes +
           B::chunk_offset(at.line, step * kStepBytes / kChunkBytes + at.chunk);
  } else {
    constexpr int kSize = 2, kPanelColumns = kPanelBytes / kSize;
    const LineChunk at = b_address_transposed(lane);
    // The chunk of 8 columns, counted from the warp's first panel.
    const int chunk = column % kPanelColumns / 8 + q + at.chunk;
    const int panel = column / kPanelColumns + chunk / 8;
    return (panel * B::kPanel + step * kStepBytes / kSize + at.line) * kPanelBytes +
           B::chunk_offset(at.line, chunk % 8);
  }
}

/// gemm.skinny: the row of weights that sum i of row tile r belongs to. Where a row of weights
/// holds k, rows are as in sum_place; else a lane has eight neighbouring rows, two in each row
/// tile.
__host__ __device__ constexpr int skinny_row(int lane, int r, int i, bool along_k) {
  return along_k ? r * 16 + lane / 4 + i / 2 * 8 : lane / 4 * 8 + r * 2 + i / 2;
}

/// gemm.skinny: the A operand of row tile `j` and instruction `s`, from a lane's loads of 32 k;
/// held(i, w) is word w of load i. Where a row of weights holds k, loads 2·j and 2·j + 1 are 16
/// bytes of row lane/4 and of the row 8 further down. Else load i is row i of the lane's eight k
/// and has eight neighbouring columns, two a word; words of two k are paired here.
template <bool kAlongK, class Held>
__host__ __device__ constexpr void weights_operand(std::uint32_t (&a)[4], const Held& held, int j,
                                                   int s) {
  for (int h = 0; h < 2; ++h) {
    if constexpr (kAlongK) {
      a[2 * h] = held(2 * j, 2 * s + h);
      a[2 * h + 1] = held(2 * j + 1, 2 * s + h);
    } else {
      const std::uint32_t first = held(s * 4 + h * 2, j), second = held(s * 4 + h * 2 + 1, j);
      a[2 * h] = (first & 0xffff) | second << 16;
      a[2 * h + 1] = first >> 16 | (second & 0xffff0000);
    }
  }
}

/// Row and column of tile `index` in a grouped raster of rows × columns tiles: down `group` tile
/// rows, then their next column, then the next group. Blocks that run at once cover a patch of C,
/// not a strip, and share operands in L2.
__host__ __device__ constexpr Place grouped_tile(int index, int rows, int columns, int group) {
  const int first = index / (group * columns) * group;
  const int in_group = index % (group * columns);
  const int height = rows - first < group ? rows - first : group;
  return {first + in_group % height, in_group / height};
}

struct Range {
  int begin, past;
};

/// Part `part` of 0 … count - 1, cut into `parts` contiguous parts of lengths that differ by at
/// most one.
__host__ __device__ constexpr Range part_of(int count, int part, int parts) {
  return {static_cast<int>(std::int64_t{count} * part / parts),
          static_cast<int>(std::int64_t{count} * (part + 1) / parts)};
}

/// A stage of the ring, and the phase parity of its barriers.
template <int kStages>
struct Ring {
  int stage = 0;
  unsigned phase = 0;
  __host__ __device__ constexpr void advance() {
    if (++stage == kStages) stage = 0, phase ^= 1;
  }
  __host__ __device__ constexpr void advance(int by) {
    const int sum = stage + by;
    phase ^= static_cast<unsigned>(sum / kStages) & 1;
    stage = sum % kStages;
  }
};

/// The descriptor of an operand of wgmma in 128-byte-swizzled shared memory (PTX ISA, "Matrix
/// descriptor format" of wgmma): bits 0-13 address, 16-29 leading offset, 32-45 stride offset, each
/// in units of 16 bytes; 49-51 base offset 0, since every panel begins at a multiple of 1024 bytes;
/// 62-63 swizzle, 1 for 128 bytes.
///   K-major (a line holds k): stride is from 8 lines to the next 8, leading is not used.
///   MN-major (a line holds columns): leading is from one panel of 128 bytes to the next, stride
///   from 8 lines of k to the next 8.
__host__ __device__ constexpr std::uint64_t descriptor(std::uint32_t address, int leading_bytes,
                                                       int stride_bytes) {
  const auto field = [](std::uint32_t bytes) {
    return static_cast<std::uint64_t>((bytes & 0x3ffff) >> 4);
  };
  return field(address) | field(static_cast<std::uint32_t>(leading_bytes)) << 16 |
         field(static_cast<std::uint32_t>(stride_bytes)) << 32 | std::uint64_t{1} << 62;
}

/// Bytes from one step of k to the next in B's tile: along the line, or 16 lines (of 2-byte
/// elements) down.
__host__ __device__ constexpr int b_step_bytes(bool along_k, int size) {
  return along_k ? kStepBytes : kStepBytes / size * kPanelBytes;
}
/// TMA boxes of B's tile in a stage of gemm.wgmma: one of `columns` lines of kPanelBytes of k, or a
/// panel for each kPanelBytes of columns, with a line for each k of the tile.
__host__ __device__ constexpr int b_boxes(bool along_k, int size, int columns) {
  return along_k ? 1 : columns * size / kPanelBytes;
}
__host__ __device__ constexpr int b_box_lines(bool along_k, int size, int columns, int cluster) {
  return (along_k ? columns : kPanelBytes / size) / cluster;
}
/// How many of `lines` lines from `first` on exist in a matrix of `extent` lines.
__host__ __device__ constexpr int existing(int first, int lines, int extent) {
  return extent <= first ? 0 : (extent - first < lines ? extent - first : lines);
}
/// Bytes that the copies of B's tile bring to shared memory: the lines of columns that exist, or
/// the panels with such columns. `first` is the tile's first column, `extent` the number of
/// columns.
__host__ __device__ constexpr int b_bytes(bool along_k, int size, int columns, int first,
                                          int extent) {
  const int there = existing(first, columns, extent), panel_columns = kPanelBytes / size;
  if (along_k) return there * kPanelBytes;
  return (there + panel_columns - 1) / panel_columns * panel_columns * kPanelBytes;
}
/// Box `box` of those that block `rank` of a cluster copies: where it begins in the tile (k and
/// column), and its byte offset in B's part of the stage.
struct BoxPlace {
  int k, column, bytes;
};
__host__ __device__ constexpr BoxPlace b_box(bool along_k, int size, int columns, int cluster,
                                             int rank, int box) {
  const int first = rank * b_box_lines(along_k, size, columns, cluster);
  if (along_k) return {0, first, first * kPanelBytes};
  const int panel_columns = kPanelBytes / size, depth = kPanelBytes / size;
  return {first, box * panel_columns, (box * depth + first) * kPanelBytes};
}

}  // namespace roofcast::cuda::gemm

#include "graph_files/gunzip.hpp"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>

#include "kilter/error.hpp"

namespace kilter::dags {

namespace {

/// A stream of zlib that takes gzip's header and checks its sum.
struct gzip_stream : z_stream {
  gzip_stream() : z_stream{} {
    constexpr int gzip_only = 16;
    if (inflateInit2(this, gzip_only + MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  ~gzip_stream() { inflateEnd(this); }
  gzip_stream(const gzip_stream&) = delete;
  gzip_stream& operator=(const gzip_stream&) = delete;
};

}  // namespace

bool is_gzip(std::string_view bytes) noexcept { return bytes.starts_with("\x1f\x8b"); }

std::string gunzip(const std::string& file, std::string_view packed, std::size_t most_bytes) {
  constexpr std::size_t step = 1 << 20;
  gzip_stream z;
  std::string out;
  std::size_t taken = 0;
  for (bool ended = false; !ended;) {
    const std::size_t given =
        std::min<std::size_t>(packed.size() - taken, std::numeric_limits<uInt>::max());
    // zlib's interface is older than const
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + taken));
    z.avail_in = static_cast<uInt>(given);
    const std::size_t had = out.size();
    out.resize(had + step);
    z.next_out = reinterpret_cast<Bytef*>(out.data() + had);
    z.avail_out = static_cast<uInt>(step);
    const int status = inflate(&z, Z_NO_FLUSH);
    taken += given - z.avail_in;
    out.resize(out.size() - z.avail_out);
    if (out.size() > most_bytes)
      throw input_error(file + ": unpacks to more than " + std::to_string(most_bytes) +
                        " bytes; no graph that Kilter can hold does");
    if (out.find('\0', had) != out.npos) break;
    if (status == Z_STREAM_END) {
      ended = taken == packed.size();
      if (!ended && !is_gzip(packed.substr(taken)))
        throw input_error(file + ": has " + std::to_string(packed.size() - taken) +
                          " bytes behind its compressed data");
      if (!ended) inflateReset(&z);
    } else if (status == Z_BUF_ERROR ||
               (status == Z_OK && taken == packed.size() && z.avail_out > 0)) {
      throw input_error(file + ": its compressed data is cut off");
    } else if (status == Z_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (status != Z_OK) {
      throw input_error(file + ": its compressed data is damaged (" +
                        (z.msg ? z.msg : "not gzip's") + ")");
    }
  }
  return out;
}

}  // namespace kilter::dags

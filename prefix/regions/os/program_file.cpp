#include "regions/os/program_file.hpp"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "regions/fences.hpp"

namespace kilter::regions::os {

namespace {

namespace fs = std::filesystem;

using elf_header = ElfW(Ehdr);
using segment = ElfW(Phdr);
using dynamic_entry = ElfW(Dyn);
using symbol_entry = ElfW(Sym);
using relocation = ElfW(Rela);

#if defined(__x86_64__)
constexpr int own_processor = EM_X86_64;
#elif defined(__aarch64__)
constexpr int own_processor = EM_AARCH64;
#else
constexpr int own_processor = EM_NONE;
#endif

/// A file, read where we ask. What is not there reads as nothing.
class file {
 public:
  explicit file(const std::string& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~file() {
    if (fd_ >= 0) ::close(fd_);
  }
  file(const file&) = delete;
  file& operator=(const file&) = delete;

  [[nodiscard]] std::string text(std::uint64_t at, std::size_t most) const {
    std::string bytes(most, '\0');
    const ssize_t n =
        fd_ < 0 ? -1 : ::pread(fd_, bytes.data(), bytes.size(), static_cast<off_t>(at));
    bytes.resize(n < 0 ? 0 : static_cast<std::size_t>(n));
    return bytes;
  }
  template <class T>
  [[nodiscard]] std::optional<T> value(std::uint64_t at) const {
    const std::string bytes = text(at, sizeof(T));
    if (bytes.size() != sizeof(T)) return std::nullopt;
    T t;
    std::memcpy(&t, bytes.data(), sizeof t);
    return t;
  }
  [[nodiscard]] bool readable() const noexcept { return fd_ >= 0; }
  [[nodiscard]] bool privileged() const {
    struct stat s {};
    if (fd_ < 0 || ::fstat(fd_, &s) != 0) return false;
    return (s.st_mode & (S_ISUID | S_ISGID)) != 0 ||
           ::fgetxattr(fd_, "security.capability", nullptr, 0) > 0;
  }

 private:
  int fd_;
};

bool can_run(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

/// As execvp looks for it; empty if it finds nothing.
std::string found(const std::string& word) {
  if (word.find('/') != std::string::npos) return can_run(word) ? word : "";
  const char* const path = std::getenv("PATH");
  std::istringstream directories(path ? path : "/bin:/usr/bin");
  for (std::string directory; std::getline(directories, directory, ':');)
    if (const std::string candidate = (directory.empty() ? "." : directory) + "/" + word;
        can_run(candidate))
      return candidate;
  return "";
}

/// The program that runs a script, as the kernel reads its first line; of `env` the one that it
/// looks for. Text without such a line is the shell's (execvp). Empty: it is no script.
std::string interpreter(const file& f) {
  const std::string head = f.text(0, 256);
  if (!head.starts_with("#!"))
    return !f.readable() || head.starts_with(ELFMAG) || head.find('\0') != std::string::npos
               ? ""
               : "/bin/sh";
  std::istringstream line(head.substr(2, head.find('\n') - 2));
  std::string program, word;
  line >> program;
  if (fs::path(program).filename() != "env") return program;
  while (line >> word)
    if (!word.starts_with('-') && word.find('=') == std::string::npos) return found(word);
  return program;
}

/// Where the file has what is at this address when the program is loaded.
std::optional<std::uint64_t> place_in_file(const std::vector<segment>& segments,
                                           std::uint64_t address) {
  for (const segment& s : segments)
    if (s.p_type == PT_LOAD && address >= s.p_vaddr && address - s.p_vaddr < s.p_filesz)
      return s.p_offset + (address - s.p_vaddr);
  return std::nullopt;
}

/// What the dynamic section says, by tag; of the libraries' names all.
struct dynamic_section {
  std::map<std::int64_t, std::uint64_t> values;
  std::vector<std::uint64_t> needed;
};

dynamic_section read_dynamic(const file& f, const segment& s) {
  constexpr std::size_t most_entries = 4096;
  dynamic_section d;
  for (std::size_t i = 0;
       i < std::min<std::size_t>(s.p_filesz / sizeof(dynamic_entry), most_entries); ++i) {
    const auto entry = f.value<dynamic_entry>(s.p_offset + i * sizeof(dynamic_entry));
    if (!entry || entry->d_tag == DT_NULL) break;
    if (entry->d_tag == DT_NEEDED)
      d.needed.push_back(entry->d_un.d_val);
    else
      d.values[entry->d_tag] = entry->d_un.d_val;
  }
  return d;
}

/// What the program is linked with, and which names its relocations take from there.
void read_names(const file& f, const std::vector<segment>& segments, const dynamic_section& d,
                program_file& p) {
  constexpr std::size_t longest_name = 4096;
  constexpr std::uint64_t most_bytes = 64u << 20;
  const auto place = [&](std::int64_t tag) {
    return d.values.contains(tag) ? place_in_file(segments, d.values.at(tag)) : std::nullopt;
  };
  const auto strings = place(DT_STRTAB), symbols = place(DT_SYMTAB);
  if (!strings) return;
  const auto name = [&](std::uint64_t at) {
    const std::string text = f.text(*strings + at, longest_name);
    return text.substr(0, text.find('\0'));
  };
  for (const std::uint64_t library : d.needed) p.needed.push_back(name(library));
  std::set<std::uint64_t> taken;
  for (const auto& [table, size] :
       {std::pair{DT_RELA, DT_RELASZ}, std::pair{DT_JMPREL, DT_PLTRELSZ}}) {
    const auto at = place(table);
    if (!at || !symbols || !d.values.contains(size)) continue;
    const std::string bytes = f.text(*at, std::min(d.values.at(size), most_bytes));
    for (std::size_t i = 0; i + sizeof(relocation) <= bytes.size(); i += sizeof(relocation)) {
      relocation r;
      std::memcpy(&r, bytes.data() + i, sizeof r);
      if (const std::uint64_t symbol = ELF64_R_SYM(r.r_info); symbol != 0) taken.insert(symbol);
    }
  }
  for (const std::uint64_t number : taken)
    if (const auto s = f.value<symbol_entry>(*symbols + number * sizeof(symbol_entry));
        s && s->st_shndx == SHN_UNDEF)
      p.taken.push_back(name(s->st_name));
}

/// Null: it has none that could be read.
std::optional<elf_header> header_of(const file& f) {
  const auto header = f.value<elf_header>(0);
  return header && header->e_phentsize == sizeof(segment) ? header : std::nullopt;
}

std::vector<segment> segments_of(const file& f, const elf_header& header) {
  std::vector<segment> segments;
  for (std::uint64_t i = 0; i < header.e_phnum; ++i)
    if (const auto s = f.value<segment>(header.e_phoff + i * sizeof(segment)))
      segments.push_back(*s);
  return segments;
}

void read_elf(const file& f, program_file& p) {
  const std::string mark = f.text(0, EI_NIDENT);
  if (mark.size() < EI_NIDENT || !mark.starts_with(ELFMAG)) return;
  const auto header = f.value<elf_header>(0);
  const bool ours = mark[EI_CLASS] == (sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32) && header &&
                    header->e_machine == own_processor;
  if (!ours) {
    p.linked = program_file::linkage::foreign;
    return;
  }
  if (header->e_phentsize != sizeof(segment)) return;
  const std::vector<segment> segments = segments_of(f, *header);
  const auto of_type = [&](std::uint32_t type) {
    return std::find_if(segments.begin(), segments.end(),
                        [&](const segment& s) { return s.p_type == type; });
  };
  p.linked = of_type(PT_INTERP) == segments.end() ? program_file::linkage::fixed
                                                  : program_file::linkage::dynamic;
  if (const auto own = of_type(PT_TLS); own != segments.end()) p.has_own_data = own->p_memsz > 0;
  if (const auto dynamic = of_type(PT_DYNAMIC); dynamic != segments.end())
    read_names(f, segments, read_dynamic(f, *dynamic), p);
}

}  // namespace

program_file look_at_program(const std::string& word) {
  program_file p;
  p.path = found(word);
  std::string at = p.path;
  constexpr int most_interpreters = 5;  // as the kernel has it
  for (int i = 0; i < most_interpreters && !at.empty(); ++i) {
    const file f(at);
    const std::string next = interpreter(f);
    if (next.empty()) {
      p.privileged = f.privileged();
      read_elf(f, p);
      break;
    }
    p.run_by = at = next;
  }
  return p;
}

bool has_fences(const program_file& p) {
  constexpr std::uint64_t most_at_once = 1u << 20;
  const file f(p.run_by.empty() ? p.path : p.run_by);
  const auto header = header_of(f);
  if (!header || own_processor != EM_X86_64) return false;
  for (const segment& s : segments_of(f, *header)) {
    if (s.p_type != PT_LOAD || (s.p_flags & PF_X) == 0) continue;
    for (std::uint64_t at = 0; at < s.p_filesz; at += most_at_once - longest_fence) {
      const std::string bytes = f.text(s.p_offset + at, std::min(most_at_once, s.p_filesz - at));
      if (bytes.empty()) break;
      if (has_fence(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()))
        return true;
    }
  }
  return false;
}

}  // namespace kilter::regions::os

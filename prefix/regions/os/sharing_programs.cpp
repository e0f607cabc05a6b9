#include "regions/os/sharing_programs.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>

#include "sharing/page.hpp"

namespace kilter::regions::os {

namespace {

namespace fs = std::filesystem;

std::vector<int> numbers(const sharing::cpu_bits& cpus) {
  std::vector<int> all;
  cpus.each_while([&](std::uint32_t cpu) {
    all.push_back(static_cast<int>(cpu));
    return true;
  });
  return all;
}

/// Who has a page, as far as the names say it.
std::vector<uid_t> users() {
  if (::geteuid() != 0) return {::geteuid()};
  std::vector<uid_t> all;
  std::error_code none;
  for (fs::directory_iterator at("/dev/shm", none), end; !none && at != end; at.increment(none)) {
    const std::string name = at->path().filename().string();
    constexpr std::string_view before = "kilter-";
    if (!name.starts_with(before)) continue;
    uid_t user = 0;
    const char* const last = name.data() + name.size();
    if (const auto [rest, error] = std::from_chars(name.data() + before.size(), last, user);
        error == std::errc{} && rest == last)
      all.push_back(user);
  }
  return all;
}

}  // namespace

std::vector<sharing_program> sharing_programs() {
  std::vector<sharing_program> all;
  const std::uint64_t our_numbers = sharing::this_process().pid_namespace;
  for (const uid_t user : users()) {
    sharing::onlooked there[sharing::slots];
    for (std::uint32_t n = 0, count = sharing::who_is_there(nullptr, user, there); n < count; ++n) {
      const auto& [process, who] = there[n];
      sharing_program one{.pid = {},
                          .program = {},
                          .allowed = numbers(who.allowed),
                          .uses = numbers(who.takes),
                          .could_use = who.could_use_percent / 100.0};
      if (our_numbers != 0 && process.pid_namespace == our_numbers) {
        one.pid = static_cast<pid_t>(process.pid);
        std::error_code gone;
        one.program = fs::read_symlink(fmt::format("/proc/{}/exe", process.pid), gone).string();
      }
      all.push_back(std::move(one));
    }
  }
  return all;
}

}  // namespace kilter::regions::os

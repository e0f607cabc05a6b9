// `app dedup`.

#include "apps/programs/dedup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "apps/programs/dedup_input.hpp"
#include "base/printable.hpp"
#include "base/replace_file.hpp"
#include "cli/app_programs.hpp"
#include "cli/values.hpp"
#include "session/outputs.hpp"

namespace kilter::cli {

namespace {

using lab::document;
namespace fs = std::filesystem;

struct dedup_words {
  std::string stages = "separate", extract;
  std::size_t block_kib = 0, slots = 0;
  int level = 6;
};

/// A file that appears under its name when it is whole.
class new_file {
 public:
  explicit new_file(const std::string& path) : path_(path), file_(path) {}
  void add(std::string_view bytes) {
    file_.add(bytes);
    check();
  }
  void keep() {
    file_.keep();
    check();
  }

 private:
  void check() const {
    if (!file_.why().empty())
      throw std::runtime_error(fmt::format("cannot write {}: {}", path_, file_.why()));
  }

  const std::string& path_;
  kilter::detail::replacement file_;
};

void refuse_same(const std::string& output, const std::string& option, const std::string& input) {
  std::error_code ignored;
  if (fs::equivalent(output, input, ignored))
    throw input_error(fmt::format("--output '{}': {} reads it; name another file", output, option));
}

/// Beside what is written in the end, so that there is room for it; without it where temporary
/// files are.
std::string folder_of(const std::string& output) {
  if (output.empty()) return fs::temp_directory_path().string();
  return fs::absolute(output).parent_path().string();
}

made make_dedup(const app_options& o, const dedup_words& w, std::uint64_t seed,
                std::shared_ptr<apps::byte_store>& archive) {
  const apps::dedup_size& size = size_named(apps::dedup_sizes, o.size);
  const bool drawn = o.input.empty();
  const apps::dedup_options how{.stages = static_cast<apps::dedup_stages>(
                                    index_of("--stages", apps::dedup_stage_names, w.stages)),
                                .block = w.block_kib ? w.block_kib << 10
                                         : drawn     ? size.block
                                                     : apps::dedup_options{}.block,
                                .slots = w.slots,
                                .level = w.level};
  std::shared_ptr<const apps::byte_source> input;
  if (drawn) {
    input = std::make_shared<apps::memory_source>(apps::drawn_text(size.bytes, seed));
    archive = std::make_shared<apps::byte_store>();
  } else {
    input = std::make_shared<apps::file_source>(o.input, "file");
    refuse_same(o.output, "--input", o.input);
    archive = std::make_shared<apps::byte_store>(folder_of(o.output));
  }
  made m;
  m.chosen = {{"size", drawn ? document(o.size) : document(nullptr)},
              {"input", drawn ? document(nullptr) : document(o.input)},
              {"bytes", input->size()},
              {"stages", w.stages},
              {"block", how.block},
              {"slots", how.slots},
              {"level", how.level}};
  m.program = std::make_unique<apps::dedup>(std::move(input), archive, how);
  return m;
}

void write_archive(const apps::byte_store& archive, const std::string& path) {
  new_file file(path);
  std::vector<char> bytes(1 << 20);
  for (std::uint64_t at = 0; at < archive.size();) {
    const auto part =
        std::span(bytes).first(std::min<std::uint64_t>(bytes.size(), archive.size() - at));
    archive.read(at, part);
    file.add({part.data(), part.size()});
    at += part.size();
  }
  file.keep();
}

int extract(const CLI::App& c, const app_options& o, const dedup_words& w) {
  for (const CLI::Option* other : c.get_options())
    if (const std::string name = other->get_name();
        other->count() > 0 && name != "--extract" && name != "--output" && name != "--quiet")
      throw input_error(fmt::format("{}: it says nothing to --extract; leave it out", name));
  if (o.output.empty())
    throw input_error("--extract: name the file that is to be written, with --output");
  if (o.output == "-") throw input_error("--output '-': name a file");
  lab::check_output("--output", o.output);
  refuse_same(o.output, "--extract", w.extract);
  const apps::file_source archive(w.extract, "archive");
  new_file file(o.output);
  std::uint64_t bytes = 0, repeats = 0, pieces = 0;
  apps::restore(archive, w.extract, [&](const apps::restored_piece& p) {
    file.add(p.bytes);
    bytes += p.bytes.size();
    repeats += p.repeat;
    ++pieces;
  });
  file.keep();
  if (!o.out.quiet)
    fmt::print("{}: {} bytes of {} pieces, {} of them repeats\n", printable(o.output), bytes,
               pieces, repeats);
  return 0;
}

int pack(const app_options& o, const dedup_words& w) {
  std::shared_ptr<apps::byte_store> archive;
  const int status =
      run_program(o, "dedup", [&](std::uint64_t seed) { return make_dedup(o, w, seed, archive); });
  if (status == 0 && !o.output.empty()) write_archive(*archive, o.output);
  return status;
}

}  // namespace

action add_dedup(CLI::App& app, const std::string& command_line) {
  const auto o = std::make_shared<app_options>();
  const auto w = std::make_shared<dedup_words>();
  o->out.how.command_line = command_line;
  o->writes_output_itself = true;
  CLI::App* c = app.add_subcommand("dedup", "Pack a file so that what comes again is kept once");
  const std::string group(program_group);
  takes(c->add_option("--size", o->size,
                      "Text that is drawn, half of it repeats: small (1 MB), medium (20 MB), large "
                      "(160 MB) or native (351 MB)")
            ->type_name("SIZE")
            ->group(group),
        one_of({"small", "medium", "large", "native"}));
  c->add_option("--input", o->input, "Pack this file instead, of any length")
      ->type_name("FILE")
      ->group(group);
  c->add_option("--output", o->output, "Write the archive, or with --extract what it was made of")
      ->type_name("FILE")
      ->group(group);
  c->add_option("--extract", w->extract, "Restore what this archive was made of, and end")
      ->type_name("ARCHIVE")
      ->group(group);
  takes(c->add_option("--stages", w->stages,
                      "separate (refine, hash and compress are a stage each) or fused (one)")
            ->type_name("WORD")
            ->group(group),
        one_of(apps::dedup_stage_names));
  c->add_option(
       "--block", w->block_kib,
       "KiB that pass through the stages together, at least; 0: as the size has it, 2048 for files")
      ->type_name("KIB")
      ->check(CLI::Range(0, 65'536))
      ->group(group);
  c->add_option("--slots", w->slots, "Blocks that may be on their way at once; 0: four a thread")
      ->type_name("N")
      ->check(CLI::Range(0, 4096))
      ->group(group);
  c->add_option("--level", w->level, "Of zlib, from 1 (fast) to 9 (small)")
      ->type_name("N")
      ->check(CLI::Range(1, 9))
      ->group(group);
  add_common(*c, *o);
  c->footer(
      "Examples:\n"
      "  kilter lab app dedup --model all --disturb cpu@0\n"
      "  kilter lab app dedup --input disk.img --output disk.dedup --repeat 1\n"
      "  kilter lab app dedup --extract disk.dedup --output disk.img");
  return [o, w, c] { return w->extract.empty() ? pack(*o, *w) : extract(*c, *o, *w); };
}

}  // namespace kilter::cli

#include "machine/hwloc_xml.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file_text.hpp"
#include "kilter/error.hpp"

namespace kilter::inline v0::detail {

namespace {

constexpr std::size_t deepest = 64, most_children = 8192, most_attributes = 64;
// of a set, and above every index in one
constexpr std::uint64_t most_bits = std::uint64_t{1} << 20;

constexpr std::string_view spaces = " \t\r\n";

using attribute = std::pair<std::string_view, std::string_view>;

struct element {
  std::string_view name;
  bool kept = false;
  bool must_hold = false;  // objects
  std::size_t children = 0, objects = 0;
};

/// As hwloc writes them, in either format. It reads more: whatever begins so, in letters of any
/// size.
constexpr std::string_view types[] = {
    "System",   "Machine", "NUMANode", "Package", "Socket",  "Die",     "Core",     "PU",
    "Cache",    "L1Cache", "L2Cache",  "L3Cache", "L4Cache", "L5Cache", "L1iCache", "L2iCache",
    "L3iCache", "Group",   "Misc",     "Bridge",  "PCIDev",  "OSDev",   "MemCache"};

/// "0x0000000f", "0x1,,0x0", "0xf...f,0x1": words of 32 bits, the highest first; an empty one is
/// zero.
bool is_set(std::string_view text) {
  if (text.starts_with("0xf...f")) {
    text.remove_prefix(7);
    if (text.empty()) return true;
    if (!text.starts_with(',')) return false;
    text.remove_prefix(1);
  }
  if (text.empty() || text.front() == ',' || text.back() == ',') return false;
  std::uint64_t words = 0;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    std::string_view word = text.substr(at, comma - at);
    if (!word.empty()) {
      if (!word.starts_with("0x")) return false;
      word.remove_prefix(2);
      const bool hex = word.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
      if (word.empty() || word.size() > 8 || !hex) return false;
    }
    if (++words > most_bits / 32) return false;
    at = comma + 1;
  }
  return true;
}

class reader {
 public:
  reader(std::string_view text, const std::string& source) : text_(text), source_(source) {}

  std::string run() {
    do {
      at_ = text_.find('<', at_);
      if (at_ == std::string_view::npos) truncated();
      const std::string_view rest = text_.substr(at_);
      if (rest.starts_with("<!--"))
        skip_past("-->");
      else if (rest.starts_with("<?"))
        skip_past("?>");
      else if (rest.starts_with("<!"))
        declaration();
      else if (rest.starts_with("</"))
        close();
      else
        open();
    } while (!stack_.empty() || !ended_);
    // hwloc reads what has none through a null pointer, in some of its formats.
    if (!has_pu_)
      throw input_error(
          source_ +
          " names no logical CPU (an object of type \"PU\"); export it anew with lstopo FILE.xml");
    // The same where its second format, which always has one, has no NUMA node, if the allowed CPUs
    // are none of the machine's.
    if (!first_format_ && !has_node_)
      throw input_error(source_ +
                        " names no NUMA node (an object of type \"NUMANode\"); export it anew with "
                        "lstopo FILE.xml");
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    const auto line =
        1 + std::count(text_.begin(),
                       text_.begin() + static_cast<std::ptrdiff_t>(std::min(at_, text_.size())),
                       '\n');
    throw input_error(source_ + ", line " + std::to_string(line) + ": " + what);
  }
  [[noreturn]] void truncated() const {
    throw input_error(source_ +
                      " is truncated: its <topology> element is never closed; export it anew with "
                      "lstopo FILE.xml");
  }

  void skip_past(std::string_view end) {
    at_ = text_.find(end, at_);
    if (at_ == std::string_view::npos) truncated();
    at_ += end.size();
  }

  /// <!DOCTYPE topology SYSTEM "hwloc2.dtd">, without definitions of its own.
  void declaration() {
    const std::size_t end = text_.find('>', at_);
    if (end == std::string_view::npos) truncated();
    if (text_.substr(at_, end - at_).find('[') != std::string_view::npos)
      fail("a document type with definitions of its own; hwloc writes none");
    at_ = end + 1;
  }

  std::string_view name_at() {
    const std::size_t begin = at_;
    while (at_ < text_.size() &&
           (std::string_view(" \t\r\n/>=<\"'").find(text_[at_]) == std::string_view::npos))
      ++at_;
    return text_.substr(begin, at_ - begin);
  }
  bool skip_spaces() {
    const std::size_t begin = at_;
    at_ = std::min(text_.find_first_not_of(spaces, at_), text_.size());
    return at_ > begin;
  }

  std::vector<attribute> attributes() {
    std::vector<attribute> found;
    while (skip_spaces() && at_ < text_.size() && text_[at_] != '/' && text_[at_] != '>') {
      const std::string_view name = name_at();
      if (name.empty() || !text_.substr(at_).starts_with("=\""))
        fail("an attribute must be written NAME=\"VALUE\"");
      // hwloc reads no further in an element where it meets another letter.
      if (name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") != std::string_view::npos)
        fail("an attribute '" + one_line(name) + "'; hwloc's are of small letters and '_'");
      if (value_of(found, name))
        fail("the attribute '" + one_line(name) + "' twice in one element");
      at_ += 2;
      const std::size_t end = text_.find('"', at_);
      if (end == std::string_view::npos) truncated();
      const std::string_view value = text_.substr(at_, end - at_);
      if (value.find('<') != std::string_view::npos)
        fail("'<' in the attribute '" + one_line(name) + "'");
      found.emplace_back(name, value);
      if (found.size() > most_attributes)
        fail("an element with more than " + std::to_string(most_attributes) + " attributes");
      at_ = end + 1;
    }
    return found;
  }

  void close() {
    at_ += 2;
    const std::string_view name = name_at();
    skip_spaces();
    if (at_ == text_.size()) truncated();
    if (text_[at_] != '>' || stack_.empty() || stack_.back().name != name)
      fail("</" + one_line(name) + "> closes no element");
    ++at_;
    if (stack_.back().kept) out_.append("</").append(name).append(">\n");
    pop();
  }

  void pop() {
    if (stack_.back().must_hold && stack_.back().objects == 0)
      fail("a NUMANode with cores in its cpuset that contains none, in hwloc's first format");
    stack_.pop_back();
    ended_ = stack_.empty();
  }

  void open() {
    ++at_;
    const std::string_view name = name_at();
    const std::vector<attribute> given = attributes();
    const bool alone = text_.substr(at_).starts_with("/>");
    if (at_ == text_.size()) truncated();
    if (!alone && text_[at_] != '>') fail("the element <" + one_line(name) + "> does not end");
    if (stack_.empty() != (name == "topology"))
      fail("<" + one_line(name) + "> where " + (stack_.empty() ? "<topology>" : "an object") +
           " should be");
    if (stack_.size() == deepest)
      fail("elements are nested more than " + std::to_string(deepest) + " deep");
    if (!stack_.empty() && ++stack_.back().children > most_children)
      fail("<" + one_line(stack_.back().name) + "> holds more than " +
           std::to_string(most_children) + " elements");
    const bool kept = is_kept(name);
    if (kept) {
      check(name, given);
      write(name, given, alone);
    }
    if (stack_.empty())
      first_format_ = !value_of(given, "version").value_or("1").starts_with('2') &&
                      value_of(given, "version") != "3.0";
    else
      stack_.back().objects += name == "object";
    stack_.push_back({name, kept, kept && holds_cores(name, given)});
    at_ += alone ? 2 : 1;
    if (alone) pop();
  }

  [[nodiscard]] bool is_kept(std::string_view name) const {
    if (stack_.empty()) return true;
    if (!stack_.back().kept) return false;
    const std::string_view parent = stack_.back().name;
    const bool whole = parent == "topology";
    if (name == "object") return whole || parent == "object";
    if (name == "cpukind") return whole;
    return name == "info" && (parent == "object" || parent == "cpukind");
  }

  /// hwloc looks for the cores of a NUMANode inside it in its first format, and through a null
  /// pointer where there is nothing.
  [[nodiscard]] bool holds_cores(std::string_view name, const std::vector<attribute>& given) const {
    return first_format_ && name == "object" && value_of(given, "type") == "NUMANode" &&
           value_of(given, "cpuset").value_or("").find_first_not_of("0x,") !=
               std::string_view::npos;
  }

  static std::optional<std::string_view> value_of(const std::vector<attribute>& given,
                                                  std::string_view name) {
    for (const auto& [n, v] : given)
      if (n == name) return v;
    return std::nullopt;
  }

  void check(std::string_view name, const std::vector<attribute>& given) {
    for (const auto& [key, value] : given)
      if ((key.ends_with("cpuset") || key.ends_with("nodeset")) && !is_set(value))
        fail("'" + one_line(key) + "' is \"" + one_line(value) +
             "\"; it must be a set such as 0x0000000f, of at most " + std::to_string(most_bits) +
             " bits");
    if (name != "object") return;
    // hwloc 2.9 reads the one of an object that has the other through a null pointer; it writes
    // none such itself.
    for (const auto& [set, whole] :
         {std::pair{"cpuset", "complete_cpuset"}, {"nodeset", "complete_nodeset"}})
      for (const auto& [one, other] : {std::pair{set, whole}, {whole, set}})
        if (value_of(given, one) && !value_of(given, other))
          fail("an object with '" + std::string(one) + "' and without '" + other + "'");
    const std::string_view type = value_of(given, "type").value_or("");
    if (std::ranges::find(types, type) == std::end(types))
      fail("an object of type \"" + one_line(type) + "\", which hwloc does not write");
    // hwloc frees a part of anything else there twice.
    if (stack_.size() == 1 &&
        ((type != "Machine" && type != "System") || stack_.back().objects != 0))
      fail("a topology that is no single object of type \"Machine\"");
    has_pu_ = has_pu_ || type == "PU";
    has_node_ = has_node_ || type == "NUMANode";
    if (type == "PU" || type == "NUMANode") {
      const auto index = value_of(given, "os_index");
      // hwloc takes the largest number there is, and a set of as many bits: half a gigabyte.
      if (!index) fail(std::string(type) + " without os_index");
      std::uint64_t number = 0;
      const auto [end, error] =
          std::from_chars(index->data(), index->data() + index->size(), number);
      if (error != std::errc{} || end != index->data() + index->size() || number >= most_bits)
        fail(std::string(type) + " has the os_index \"" + one_line(*index) +
             "\"; it must be a whole number below " + std::to_string(most_bits));
    }
  }

  void write(std::string_view name, const std::vector<attribute>& given, bool alone) {
    out_.append("<").append(name);
    for (const auto& [key, value] : given) {
      const bool whole = name == "topology";  // hwloc's own reader takes no other attribute there
      if (!whole || key == "version")
        out_.append(" ")
            .append(key)
            .append("=\"")
            .append(whole ? readable_version(value) : value)
            .append("\"");
    }
    out_.append(alone ? "/>\n" : ">\n");
  }

  [[nodiscard]] std::string_view readable_version(std::string_view given) const {
    if (given == "3.0") return "2.0";
    if (given.starts_with("1.") || given.starts_with("2.")) return given;
    throw input_error(source_ + " is of hwloc's format \"" + one_line(given) +
                      "\"; formats to 3.0 are read. Where it was made, write it anew: lstopo --of "
                      "xml --export-xml-flags v2 FILE.xml");
  }

  std::string_view text_;
  const std::string& source_;
  std::size_t at_ = 0;
  bool ended_ = false, has_pu_ = false, has_node_ = false, first_format_ = false;
  std::vector<element> stack_;
  std::string out_ =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n";
};

}  // namespace

std::string machine_part(const std::string& xml, const std::string& source) {
  // hwloc's text ends there.
  if (xml.find('\0') != std::string::npos)
    throw input_error(source + " holds a NUL byte, so it is no XML");
  return reader(xml, source).run();
}

}  // namespace kilter::inline v0::detail

#include "balance/recording.hpp"

#include <array>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/file_text.hpp"
#include "base/json_text.hpp"
#include "kilter/error.hpp"

namespace kilter::balance {

namespace {

using json = nlohmann::ordered_json;

constexpr std::string_view schema = "kilter.observations/1";
constexpr std::size_t longest_line = 16u << 20;
constexpr std::size_t most_threads = 1u << 16;
constexpr std::uint32_t most_cores = 1u << 16;
constexpr double largest_amount = 1e18;  // of seconds or events: sums of many stay finite
constexpr std::array<std::pair<thread_class, std::string_view>, 2> class_names = {
    {{thread_class::compute, "compute"}, {thread_class::memory, "memory"}}};

/// One object of the file; what is wrong with it is said with where it stands.
class members {
 public:
  members(const json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object_.is_object()) throw input_error(where_ + ": not a JSON object");
  }

  void only(std::initializer_list<std::string_view> known) const {
    for (const auto& [key, value] : object_.items()) {
      bool found = false;
      for (const std::string_view k : known) found = found || k == key;
      if (!found)
        throw input_error(where_ + ": '" + one_line(key) + "' is no member of " +
                          std::string(schema));
    }
  }
  [[nodiscard]] const json* find(const char* key) const {
    const auto at = object_.find(key);
    return at == object_.end() ? nullptr : &*at;
  }
  [[nodiscard]] const json& at(const char* key) const {
    const json* value = find(key);
    if (!value) throw input_error(where_ + " has no '" + key + "'");
    return *value;
  }
  [[nodiscard]] std::string text(const char* key) const {
    const json& v = at(key);
    if (!v.is_string()) wrong(key, v, "a text");
    return v.get<std::string>();
  }
  [[nodiscard]] bool flag(const char* key, bool otherwise) const {
    const json* v = find(key);
    if (v && !v->is_boolean()) wrong(key, *v, "true or false");
    return v ? v->get<bool>() : otherwise;
  }
  [[nodiscard]] std::uint32_t count(const char* key, std::uint64_t least,
                                    std::uint64_t most) const {
    const json& v = at(key);
    if (!v.is_number_unsigned() || v.get<std::uint64_t>() < least || v.get<std::uint64_t>() > most)
      wrong(key, v, "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    return static_cast<std::uint32_t>(v.get<std::uint64_t>());
  }
  [[nodiscard]] std::optional<double> amount(const char* key, double most = largest_amount) const {
    const json* v = find(key);
    if (!v) return std::nullopt;
    const double d = v->is_number() ? v->get<double>() : -1.0;
    if (!(d >= 0.0 && d <= most))
      wrong(key, *v, most == 1.0 ? "a number from 0 to 1" : "a number from 0 to 1e18");
    return d;
  }
  [[nodiscard]] double needed_amount(const char* key) const {
    static_cast<void>(at(key));
    return *amount(key);
  }
  [[noreturn]] void wrong(const char* key, const json& value, const std::string& right) const {
    throw input_error(where_ + ": '" + key + "' is " + shown(value) + "; it must be " + right);
  }

 private:
  const json& object_;
  std::string where_;
};

json parsed(const std::string& line, const std::string& where) {
  try {
    return parse_json(line);
  } catch (const input_error& e) {
    throw input_error(where + ": " + e.what());
  }
}

thread_sample to_sample(const members& m, std::uint32_t cores) {
  m.only({"thread", "program", "core", "background", "runnable", "movable", "ran_s", "waited_s",
          "misses", "miss_ratio", "instructions", "class"});
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max() - 1;
  thread_sample s;
  s.thread = m.count("thread", 0, most);
  s.program = m.count("program", 0, most);
  if (m.find("core")) s.core = m.count("core", 0, cores - 1);
  s.background = m.flag("background", s.background);
  s.runnable = m.flag("runnable", s.runnable);
  s.movable = m.flag("movable", s.movable);
  s.ran_s = m.amount("ran_s").value_or(0.0);
  s.waited_s = m.amount("waited_s").value_or(0.0);
  s.misses = m.amount("misses");
  s.miss_ratio = m.amount("miss_ratio", 1.0);
  s.instructions = m.amount("instructions");
  if (m.find("class")) {
    const std::string name = m.text("class");
    for (const auto& [c, n] : class_names)
      if (n == name) s.told = c;
    if (s.told == thread_class::unknown)
      m.wrong("class", m.at("class"), "\"compute\" or \"memory\"");
  }
  return s;
}

json to_json(const thread_sample& s) {
  const thread_sample plain;
  json o = {{"thread", s.thread}, {"program", s.program}};
  if (s.core != plain.core) o["core"] = s.core;
  if (s.background != plain.background) o["background"] = s.background;
  if (s.runnable != plain.runnable) o["runnable"] = s.runnable;
  if (s.movable != plain.movable) o["movable"] = s.movable;
  if (s.ran_s != plain.ran_s) o["ran_s"] = s.ran_s;
  if (s.waited_s != plain.waited_s) o["waited_s"] = s.waited_s;
  if (s.misses) o["misses"] = *s.misses;
  if (s.miss_ratio) o["miss_ratio"] = *s.miss_ratio;
  if (s.instructions) o["instructions"] = *s.instructions;
  for (const auto& [c, n] : class_names)
    if (s.told == c) o["class"] = n;
  return o;
}

std::string line_of(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string recording_line(const recording_header& h) {
  return line_of(
      {{"schema", schema}, {"machine", h.machine}, {"cores", h.cores}, {"observer", h.observer}});
}

std::string recording_line(const observation& o) {
  json threads = json::array();
  for (const thread_sample& s : o.threads) threads.push_back(to_json(s));
  json line = {{"now_s", o.now_s}, {"length_s", o.length_s}, {"rates", o.rates}};
  if (!o.idle.empty()) line["idle"] = o.idle;
  line["threads"] = std::move(threads);
  return line_of(line);
}

recording_reader::recording_reader(std::istream& in, std::string source)
    : in_(in), source_(std::move(source)) {
  if (!read_line())
    throw input_error(source_ + " is empty; a recording begins with a line whose schema is " +
                      std::string(schema));
  const std::string where = source_ + ":1";
  const json value = parsed(line_, where);
  const members m(value, where);
  if (m.text("schema") != schema) m.wrong("schema", m.at("schema"), std::string(schema));
  m.only({"schema", "machine", "cores", "observer"});
  header_ = {m.text("machine"), m.count("cores", 1, most_cores), m.text("observer")};
}

std::optional<observation> recording_reader::next() {
  if (!read_line()) return std::nullopt;
  const std::string where = source_ + ":" + std::to_string(number_);
  const json value = parsed(line_, where);
  const members m(value, where);
  m.only({"now_s", "length_s", "rates", "idle", "threads"});
  observation o;
  o.now_s = m.needed_amount("now_s");
  o.length_s = m.needed_amount("length_s");
  if (o.length_s == 0.0) m.wrong("length_s", m.at("length_s"), "above 0");
  if (last_s_ && o.now_s <= *last_s_)
    m.wrong("now_s", m.at("now_s"), "later than in the line before");
  last_s_ = o.now_s;
  o.rates = m.flag("rates", false);
  if (const json* const idle = m.find("idle")) {
    if (!idle->is_array() || idle->size() != header_.cores)
      throw input_error(where + ": 'idle' must be a list of " + std::to_string(header_.cores) +
                        " numbers, one a core");
    for (const json& part : *idle) {
      if (!part.is_number() || !(part.get<double>() >= 0.0 && part.get<double>() <= 1.0))
        m.wrong("idle", part, "a list of numbers from 0 to 1");
      o.idle.push_back(part.get<double>());
    }
  }
  const json& threads = m.at("threads");
  if (!threads.is_array() || threads.size() > most_threads)
    throw input_error(where + ": 'threads' must be a list of at most " +
                      std::to_string(most_threads));
  o.threads.reserve(threads.size());
  for (const json& t : threads) {
    const std::string which =
        where + ": thread " + std::to_string(o.threads.size() + 1) + " of the list";
    o.threads.push_back(to_sample({t, which}, header_.cores));
    if (o.threads.size() > 1 && o.threads.back().thread <= o.threads[o.threads.size() - 2].thread)
      throw input_error(which + " has id " + std::to_string(o.threads.back().thread) +
                        "; ids must ascend");
  }
  return o;
}

/// Memory is not taken before it is known that the line is not too long.
bool recording_reader::read_line() {
  line_.clear();
  for (int c = in_.get(); c != std::istream::traits_type::eof(); c = in_.get()) {
    if (c == '\n') {
      ++number_;
      return true;
    }
    if (line_.size() == longest_line)
      throw input_error(source_ + ":" + std::to_string(number_ + 1) + ": longer than " +
                        std::to_string(longest_line >> 20) + " MiB");
    line_.push_back(static_cast<char>(c));
  }
  if (in_.bad()) throw input_error(source_ + ": cannot be read");
  if (line_.empty()) return false;
  throw input_error(source_ + ":" + std::to_string(number_ + 1) + ": the file ends within a line");
}

}  // namespace kilter::balance

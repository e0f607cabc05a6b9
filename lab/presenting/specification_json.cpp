#include "presenting/specification_json.hpp"

#include <algorithm>
#include <string>

namespace kilter::lab {

document value_of(const specification& s, std::string_view name) {
  const setting& one = *find_setting(name);
  if (one.flag) return s.*one.flag;
  const std::string text = one.text(one, s);
  if (text.empty()) return nullptr;
  const bool digits = std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  return one.looks == wording::count && digits ? document(std::stoull(text)) : document(text);
}

void add_settings(document& d, const specification& s,
                  std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) d[std::string(name)] = value_of(s, name);
}

document cats_of(const specification& s) {
  document cats;
  for (const char* name : {"strict", "bidirectional", "tries", "update"})
    cats[name] = value_of(s, std::string("cats_") + name);
  return cats;
}

}  // namespace kilter::lab

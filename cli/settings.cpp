#include "cli/settings.hpp"

#include <utility>

#include "cli/values.hpp"
#include "measuring/presets.hpp"

namespace kilter::cli {

lab::specification worded_specification::read() const {
  lab::specification s = rest;
  s.policy_lists = lab::read_policies(policies);
  lab::parameter_values written;
  for (const auto& [name, option] : options) {
    if (option->count() == 0) continue;
    const lab::setting& one = *lab::find_setting(name);
    written.emplace(name, one.flag ? one.text(one, rest) : texts.find(name)->second);
  }
  s = lab::read_settings(std::move(s), written, as);
  for (const std::string& text : disturb) s.disturb.push_back(lab::read_disturbances(text));
  return s;
}

void add_settings(CLI::App& c, worded_specification& w,
                  std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const lab::setting& one = *lab::find_setting(name);
    const std::string meaning(one.meaning), group(one.group);
    if (one.flag) {
      w.options.emplace_back(one.name,
                             c.add_flag(one.option(), w.rest.*one.flag, meaning)->group(group));
      continue;
    }
    std::string& text = w.texts[std::string(name)] = one.text(one, w.rest);
    CLI::Option* o = c.add_option(one.option(), text, meaning)
                         ->type_name(std::string(one.type_name))
                         ->group(group);
    w.options.emplace_back(one.name, o);
    if (!one.words.empty())
      takes(o, {.words = [&one] {
              return std::vector<std::string>(one.words.begin(), one.words.end());
            }});
  }
}

void add_comparison(CLI::App& c, worded_specification& w) {
  takes(c.add_option("--policy", w.policies,
                     "Policies to compare, as rws,dam-c; all: every one that kilter lab policies "
                     "lists; ./libmine.so: one of your own")
            ->type_name("LIST")
            ->group("Comparison"),
        {.words =
             [] {
               std::vector<std::string> names = policy_names();
               names.emplace_back("all");
               return names;
             },
         .list = true,
         .files = true});
  takes(c.add_option("--disturb", w.disturb,
                     "Scenarios as KIND@CORES[:SHARE[,HALFPERIOD]][@FROM..TO]; + joins several; "
                     "undisturbed is always added")
            ->type_name("SPEC")
            ->group("Comparison"),
        {.words = disturbance_kinds});
  add_settings(c, w, {"repeat", "seed", "root"});
}

void add_simulated(CLI::App& c, worded_specification& w) {
  add_settings(c, w, {"co_runner", "thieves", "blocks", "data", "costs", "fast"});
}

void add_cores(CLI::App& c, worded_specification& w) {
  add_settings(c, w, {"cores", "smt", "unpinned"});
}

void add_learning(CLI::App& c, worded_specification& w) {
  takes(c.add_option("--as", w.as,
                     "Settings as published, as coded in the papers' public code, or as Kilter has "
                     "them; those that you write come first")
            ->type_name("READING")
            ->group("Policy"),
        one_of(lab::readings));
  add_settings(c, w,
               {"table", "weight", "timing", "criticality", "objective", "local", "search",
                "fast_order", "steal", "children", "explore", "refresh", "load_table", "cats_tries",
                "cats_update", "cats_strict", "cats_bidirectional", "direct"});
}

}  // namespace kilter::cli

#include "claims/flips.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "claims/reproduction.hpp"
#include "kilter/error.hpp"
#include "session/interrupt.hpp"

namespace kilter::lab {

namespace {

constexpr std::string_view as_coded = "coded";

bool looks_at_changed(const claim& c, const experiment_file& before, const experiment_file& after) {
  const auto changed = [&](const quantity& q) {
    return std::ranges::any_of(std::array{&q.left, &q.right}, [&](const auto* side) {
      return std::ranges::any_of(*side, [&](const cell& looked_at) {
        const auto name = looked_at.run.find("scenario");
        if (name == looked_at.run.end()) return false;  // a property of the code
        const auto at =
            std::ranges::find(before.scenarios, name->second, &experiment_scenario::name) -
            before.scenarios.begin();
        return before.scenarios[at].parameters != after.scenarios[at].parameters;
      });
    });
  };
  return std::ranges::any_of(c.cases, [&](const planned_case& one) { return changed(one.of); }) ||
         std::ranges::any_of(c.values, [&](const planned_value& one) { return changed(one.of); });
}

std::vector<std::string> claims_of_changed(const std::vector<experiment_file>& before,
                                           const std::vector<experiment_file>& after,
                                           const std::vector<std::string>& ids) {
  std::vector<std::string> some;
  for (std::size_t f = 0; f < before.size(); ++f)
    for (const claim& c : before[f].claims)
      if (std::ranges::find(ids, c.id) != ids.end() && looks_at_changed(c, before[f], after[f]))
        some.push_back(c.id);
  return some;
}

/// Some machines refuse some readings, as nodes that are apart refuse to steal from the richest.
/// What is refused says nothing about the claims of that file.
std::vector<claim_result> results_where_possible(const std::vector<experiment_file>& files,
                                                 const std::vector<std::string>& ids, progress& p) {
  std::vector<claim_result> all;
  for (const experiment_file& f : files) {
    std::vector<std::string> own;
    for (const claim& c : f.claims)
      if (std::ranges::find(ids, c.id) != ids.end()) own.push_back(c.id);
    if (own.empty()) continue;
    try {
      std::ranges::move(reproduction({f}).run(own, p).claims, std::back_inserter(all));
    } catch (const input_error&) {
    }
  }
  return all;
}

}  // namespace

flip_search::flip_search(std::vector<experiment_file> files, const known_readings& known,
                         std::vector<std::string> ids)
    : ids_(std::move(ids)) {
  const auto add = [&](std::string set, std::vector<experiment_file> read,
                       const std::vector<std::string>& of) {
    attempts_.push_back({std::move(set), std::move(read), {}});
    attempts_.back().ids = claims_of_changed(files, attempts_.back().files, of);
  };
  {
    auto coded = files;
    read_as(coded, as_coded, known);
    add(std::string(as_coded), std::move(coded), ids_);
  }
  for (const other_reading& r : known.one_by_one) {
    std::vector<std::string> of_papers;
    for (const std::string& id : ids_)
      if (std::ranges::any_of(r.papers, [&](const std::string& paper) {
            return id == paper || id.starts_with(paper + "-");
          }))
        of_papers.push_back(id);
    auto read = files;
    read_differently(read, r.set);
    add(r.set, std::move(read), of_papers);
  }
  attempts_.insert(attempts_.begin(), {{}, std::move(files), ids_});
}

std::uint64_t flip_search::steps() const {
  std::uint64_t all = 0;
  for (const attempt& a : attempts_) all += reproduction(a.files).steps(a.ids);
  return all;
}

std::vector<claim_flips> flip_search::run(progress& p) {
  std::vector<claim_flips> all;
  for (const attempt& a : attempts_) {
    const auto claims = a.set.empty() ? reproduction(a.files).run(a.ids, p).claims
                                      : results_where_possible(a.files, a.ids, p);
    if (interrupted()) return {};
    for (const claim_result& r : claims) {
      if (a.set.empty()) {
        all.push_back({.id = r.id, .published = r.said, .coded = r.said, .by = {}});
        continue;
      }
      claim_flips& f = *std::ranges::find(all, r.id, &claim_flips::id);
      if (a.set == as_coded) {
        f.coded = r.said;
        continue;
      }
      ++f.tried;
      if (r.said != f.published) f.by.push_back({a.set, r.said});
    }
  }
  return all;
}

}  // namespace kilter::lab

#pragma once
// A mutant is the production code with one access made weaker: its order relaxed, or, if it is a
// fence, left out; or torn: an operation that reads and writes at once does one after the other.
// The access is named by the file and by words of its line, so that it is still the same one when
// lines have moved, and an error when it is gone.

#include <cstdint>
#include <source_location>
#include <string_view>
#include <vector>

namespace kilter::model {

enum class harm : std::uint8_t { weaker, torn };

struct mutant {
  std::string_view file;      ///< below library
  std::string_view function;  ///< words of its name, as the compiler spells it
  std::string_view access{};  ///< words of the line; none: every access of the function
  harm how = harm::weaker;
};

/// The one that is being run; at most one at a time.
class mutation {
 public:
  explicit mutation(const mutant&);
  ~mutation();
  mutation(const mutation&) = delete;
  mutation& operator=(const mutation&) = delete;

  [[nodiscard]] bool matches(harm, const std::source_location&) noexcept;
  /// Whether the program came by the access at all.
  [[nodiscard]] bool happened() const noexcept { return happened_; }

 private:
  mutant what_;
  std::vector<bool> lines_;  ///< of the file, those with the words
  bool happened_ = false;
};

inline mutation* running_mutation = nullptr;
inline bool mutates(harm how, const std::source_location& at) noexcept {
  return running_mutation && running_mutation->matches(how, at);
}

}  // namespace kilter::model

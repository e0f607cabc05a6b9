#pragma once
// Where ferret's pictures come from: a folder, or numbers.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "apps/programs/picture.hpp"

namespace kilter::apps {

/// Pictures that are loaded one at a time, by several threads at once.
class picture_source {
 public:
  virtual ~picture_source() = default;
  [[nodiscard]] virtual std::size_t count() const noexcept = 0;
  [[nodiscard]] virtual std::string name(std::size_t number) const = 0;
  [[nodiscard]] virtual picture load(std::size_t number) const = 0;
};

/// The PNG and PPM files of a folder, by their names in the order of the alphabet; not those of
/// folders in it.
class folder_pictures final : public picture_source {
 public:
  /// `option` is named in messages. input_error if the folder cannot be read or has no pictures.
  folder_pictures(std::string folder, const std::string& option);
  [[nodiscard]] std::size_t count() const noexcept override { return files_.size(); }
  [[nodiscard]] std::string name(std::size_t number) const override { return files_[number]; }
  /// input_error naming the file if it is no whole picture.
  [[nodiscard]] picture load(std::size_t number) const override;

 private:
  std::string folder_;
  std::vector<std::string> files_;
};

/// Shapes of one colour on a ground, 48 x 48. Pictures of one theme look alike; there are twenty of
/// each in a database.
class drawn_pictures final : public picture_source {
 public:
  enum class use : std::uint8_t { database, queries };

  /// Queries: every fourth is a picture of the database, the others are new ones of its themes.
  drawn_pictures(use, std::size_t count, std::size_t database, std::uint64_t seed);
  [[nodiscard]] std::size_t count() const noexcept override { return count_; }
  [[nodiscard]] std::string name(std::size_t number) const override;
  [[nodiscard]] picture load(std::size_t number) const override;

 private:
  /// In the sequence of all pictures, of which the first are the database.
  [[nodiscard]] std::size_t drawn(std::size_t number) const noexcept;

  use use_;
  std::size_t count_, database_;
  std::uint64_t seed_;
};

}  // namespace kilter::apps

#pragma once
// A face of tetrahedra: an oval, curved layer of flesh on a skull, with muscles. For facesim.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kilter::apps {

/// to the left of the face, up, out of the skull; the edge of a cell is 1
using face_point = std::array<double, 3>;

struct face_mesh {
  static constexpr std::uint8_t no_muscle = 255;

  std::vector<face_point> nodes;                         ///< at rest
  std::vector<std::array<std::uint32_t, 4>> tetrahedra;  ///< of positive volume
  /// of each node: 1 if it is grown to the skull
  std::vector<std::uint8_t> fixed;
  /// of each tetrahedron: one of face_muscles, or no_muscle
  std::vector<std::uint8_t> muscles;
  /// of each tetrahedron in a muscle: the direction in which it contracts at rest, of length 1
  std::vector<face_point> fibres;
};

/// A muscle lies along a line, or around a point. Places are parts of the face's half width and
/// half height, from its middle.
struct face_muscle {
  std::string_view name;
  std::array<double, 2> from, to;
  double width;  ///< half of it; of a ring the radius
  bool ring;
  double frames;  ///< in which it contracts and relaxes once
};
/// Wider apart than in a person, so that none overlap.
inline constexpr std::array<face_muscle, 9> face_muscles{
    {{"frontalis left", {.4, .45}, {.35, .8}, .16, false, 40},
     {"frontalis right", {-.4, .45}, {-.35, .8}, .16, false, 40},
     {"orbicularis oculi left", {.42, .2}, {.42, .2}, .18, true, 16},
     {"orbicularis oculi right", {-.42, .2}, {-.42, .2}, .18, true, 16},
     {"zygomaticus left", {.3, -.3}, {.75, 0}, .12, false, 32},
     {"zygomaticus right", {-.3, -.3}, {-.75, 0}, .12, false, 48},
     {"orbicularis oris", {0, -.42}, {0, -.42}, .26, true, 24},
     {"depressor left", {.34, -.55}, {.3, -.85}, .12, false, 56},
     {"depressor right", {-.34, -.55}, {-.3, -.85}, .12, false, 36}}};

inline constexpr std::size_t least_face_tetrahedra = 120, most_face_tetrahedra = 20'000'000;

/// A face of exactly so many tetrahedra. Cells of a lattice are cut into six each, as Kuhn has it.
/// Columns of cells are taken in the order of their distance from the middle, so the outline is an
/// oval; the last cell gives as many tetrahedra as are still missing. The lattice is curved by
/// moving nodes along the third axis alone, which leaves every volume at 1/6. input_error outside
/// the two limits.
[[nodiscard]] face_mesh make_face(std::size_t tetrahedra);

/// Six times the volume; negative if it is turned inside out.
[[nodiscard]] double six_volumes(const face_point& a, const face_point& b, const face_point& c,
                                 const face_point& d) noexcept;

/// The surface as a file that 3D programs read (Wavefront OBJ): the nodes at `places`, and each
/// triangle that belongs to one tetrahedron alone.
[[nodiscard]] std::string as_obj(const face_mesh&, const std::vector<face_point>& places);

}  // namespace kilter::apps

// Numbers the lines of a text and writes their words backwards: read, turn, write.
#include <kilter/pipeline.hpp>

#include <algorithm>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>

int main() {
  std::istringstream in("one two\nthree four\nfive six\n");
  std::ostringstream out;
  int written = 0;

  kilter::runtime rt;
  kilter::parallel_pipeline(rt,
                            kilter::serial_stage("read",
                                                 [&]() -> std::optional<std::string> {
                                                   std::string line;
                                                   if (std::getline(in, line)) return line;
                                                   return std::nullopt;  // no more lines
                                                 }),
                            kilter::parallel_stage("turn",
                                                   [](std::string line) {
                                                     std::reverse(line.begin(), line.end());
                                                     return line;
                                                   }),
                            kilter::ordered_stage("write", [&](const std::string& line) {
                              out << ++written << ": " << line << '\n';
                            }));

  std::cout << out.str();
  return out.str() == "1: owt eno\n2: ruof eerht\n3: xis evif\n" ? 0 : 1;
}

#include "graph_files/xml_events.hpp"

#include <expat.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <type_traits>

namespace kilter::dags {

namespace {

constexpr int deepest = 100;

std::string_view without_namespace(std::string_view name) {
  const std::size_t colon = name.rfind(':');
  return colon == name.npos ? name : name.substr(colon + 1);
}

/// Between expat's callbacks, through which no exception may pass, and `xml_events`.
class xml_parser {
 public:
  xml_parser(const source_text& source, xml_events& events)
      : source_(source), events_(events), parser_(XML_ParserCreate("UTF-8")) {
    if (!parser_) throw std::bad_alloc();
    XML_SetUserData(parser_.get(), this);
    XML_SetElementHandler(
        parser_.get(),
        [](void* self, const XML_Char* name, const XML_Char** pairs) {
          of(self).guarded([&](xml_parser& p) {
            if (++p.depth_ > deepest)
              p.source_.fail_at(
                  p.at(), "elements are nested more than " + std::to_string(deepest) + " deep");
            p.events_.open(without_namespace(name), xml_attributes(pairs), p.at());
          });
        },
        [](void* self, const XML_Char* name) {
          of(self).guarded([&](xml_parser& p) {
            --p.depth_;
            p.events_.close(without_namespace(name));
          });
        });
    XML_SetCharacterDataHandler(parser_.get(), [](void* self, const XML_Char* piece, int length) {
      of(self).guarded([&](xml_parser& p) {
        p.events_.text({piece, static_cast<std::size_t>(length)});
      });
    });
    XML_SetStartDoctypeDeclHandler(parser_.get(), [](void* self, const XML_Char*, const XML_Char*,
                                                     const XML_Char*, int has_definitions) {
      of(self).guarded([&](xml_parser& p) {
        if (has_definitions)
          p.source_.fail_at(p.at(),
                            "the file defines a document type of its own (<!DOCTYPE ... [...]>); "
                            "remove that, no format of graphs needs it");
      });
    });
    XML_SetSkippedEntityHandler(parser_.get(), [](void* self, const XML_Char* name, int) {
      of(self).guarded([&](xml_parser& p) {
        p.source_.fail_at(p.at(), "nothing defines &" + std::string(name) + ";");
      });
    });
  }

  void run() {
    constexpr std::size_t step = 1 << 20;
    for (std::size_t begin = 0; begin < source_.text.size(); begin += step) {
      const std::string_view some = source_.text.substr(begin, step);
      const bool last = begin + some.size() == source_.text.size();
      const XML_Status status =
          XML_Parse(parser_.get(), some.data(), static_cast<int>(some.size()), last);
      if (failed_) std::rethrow_exception(failed_);
      if (status != XML_STATUS_OK)
        source_.fail_at(
            at(), std::string("no valid XML: ") + XML_ErrorString(XML_GetErrorCode(parser_.get())));
    }
  }

 private:
  static xml_parser& of(void* self) { return *static_cast<xml_parser*>(self); }

  template <class Do>
  void guarded(Do&& what) {
    if (failed_) return;
    try {
      what(*this);
    } catch (...) {
      failed_ = std::current_exception();
      XML_StopParser(parser_.get(), XML_FALSE);
    }
  }
  [[nodiscard]] std::size_t at() const {
#if XML_MAJOR_VERSION == 2 && XML_MINOR_VERSION < 9
    const std::int64_t index = XML_GetCurrentByteIndex(parser_.get());
#else
    const std::int64_t index = XML_GetCurrentByteIndex64(parser_.get());
#endif
    return static_cast<std::size_t>(std::max<std::int64_t>(0, index));
  }

  struct closer {
    void operator()(XML_Parser p) const { XML_ParserFree(p); }
  };

  const source_text& source_;
  xml_events& events_;
  std::unique_ptr<std::remove_pointer_t<XML_Parser>, closer> parser_;
  std::exception_ptr failed_;
  int depth_ = 0;
};

}  // namespace

std::string_view xml_attributes::operator[](std::string_view name) const {
  for (const char* const* pair = pairs_; *pair; pair += 2)
    if (without_namespace(*pair) == name) return pair[1];
  return {};
}

void read_xml(const source_text& source, xml_events& events) { xml_parser(source, events).run(); }

std::string xml_root(const source_text& source) {
  struct found {};
  struct first_element : xml_events {
    void open(std::string_view element, const xml_attributes&, std::size_t) override {
      name = element;
      throw found{};
    }
    void close(std::string_view) override {}
    void text(std::string_view) override {}
    std::string name;
  } first;
  try {
    read_xml(source, first);
  } catch (const found&) {
  }
  return first.name;
}

}  // namespace kilter::dags

// What a user may write by mistake and must not compile, one case a number:
// tests/misuse/misuse_test.sh compiles each and expects an error. Case 0 is right, so that the
// errors of the others are their own.
#include <kilter/parallel.hpp>
#include <kilter/pipeline.hpp>
#include <kilter/runtime.hpp>

using namespace kilter;

void cases(runtime& rt, graph& g) {
  (void)rt, (void)g;
#if CASE == 0
  g.add([] {});
  rt.run([](task_context& here) { batch(here).add([] {}); });
  g.add([](task_context& here) { batch(here).add([] {}); });
  g.add({.widths = {1, 2}}, [](team_member& me) {
    while (me.next_chunk(10)) {
    }
  });
  parallel_pipeline(rt, serial_stage("a", [] { return std::optional(1); }),
                    parallel_stage("b", [](int i) { return i; }), ordered_stage("c", [](int) {}));
#elif CASE == 1  // a team adds tasks: once a member
  g.add([](team_member& me) { batch added(me); });
#elif CASE == 2  // a team runs a loop: once a member
  g.add([](team_member& me) { parallel_for(me, 0, 10, [](int) {}); });
#elif CASE == 3  // the same with a result
  g.add([](team_member& me) {
    (void)parallel_reduce(
        me, 0, 10, 0, [](int i) { return i; }, [](int a, int b) { return a + b; });
  });
#elif CASE == 4  // alone there are no chunks
  g.add([](task_context& here) {
    while (here.next_chunk(10)) {
    }
  });
#elif CASE == 5  // and nobody to meet
  g.add([](task_context& here) { here.barrier(); });
#elif CASE == 6  // what it runs on would depend on what it uses
  g.add([](auto& here) { (void)here.cancelled(); });
#elif CASE == 7  // a copy would outlive the call
  g.add([](task_context here) { (void)here.cancelled(); });
#elif CASE == 8
  g.add([](team_member me) { (void)me.member(); });
#elif CASE == 9   // a body takes one context
  g.add([](int) {});
#elif CASE == 10  // a moldable body in a loop's place
  parallel_for(rt, 0, 10, [](team_member&) {});
#elif CASE == 11  // its variables would be changed by several workers at once
  parallel_pipeline(rt, serial_stage("a", [] { return std::optional(1); }),
                    parallel_stage("b", [n = 0](int) mutable { ++n; }));
#elif CASE == 12  // nothing says when it ends
  parallel_pipeline(rt, serial_stage("a", [] { return 1; }), serial_stage("b", [](int) {}));
#elif CASE == 13  // two workers would ask for items at once
  parallel_pipeline(rt, parallel_stage("a", [] { return std::optional(1); }),
                    serial_stage("b", [](int) {}));
#elif CASE == 14  // what comes out would be lost
  parallel_pipeline(rt, serial_stage("a", [] { return std::optional(1); }),
                    serial_stage("b", [](int i) { return i; }));
#elif CASE == 15  // the item would be changed and then gone
  parallel_pipeline(rt, serial_stage("a", [] { return std::optional(1); }),
                    serial_stage("b", [](int& i) { ++i; }));
#elif CASE == 16  // a name alone is no type
  g.add({.type = "fill"}, [] {});
#elif CASE == 17  // tasks are added with a context, not with somebody else's batch
  g.add([](batch&) {});
#elif CASE == 18  // what it returns would be lost
  g.add([] { return 42; });
#elif CASE == 19  // the same of a task that is run at once
  rt.run([](task_context&) { return 42; });
#elif CASE == 20  // one index and a default, but it would be given a piece
  parallel_for(rt, 0, 10, [](int, int = 1) {});
#elif CASE == 21  // a graph that goes at once
  rt.run(graph());
#elif CASE == 22  // options at the wrong end
  g.add([] {}, {.name = "load"});
#elif CASE == 23  // data at the wrong end
  g.add([] {}, {.in = {&g}});
#elif CASE == 24  // a name alone is no option
  g.add("load", [] {});
#elif CASE == 25  // the sum of a piece, without the sum so far
  (void)parallel_reduce(
      rt, 0, 10, 0, [](int first, int last) { return last - first; },
      [](int a, int b) { return a + b; });
#elif CASE == 26  // the two functions in the other order
  (void)parallel_reduce(
      rt, 0, 10, 0, [](int a, int b) { return a + b; }, [](int i) { return i; });
#elif CASE == 27  // a loop over what is no index
  parallel_for(rt, 0, 10, [](const char*) {});
#else
#error "no such case"
#endif
}

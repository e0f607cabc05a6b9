// A recursion with a result: it waits for its tasks before it reads what they wrote.
#include <kilter/runtime.hpp>

long alone(int n) { return n < 2 ? n : alone(n - 1) + alone(n - 2); }

long fibonacci(kilter::task_context& here, int n) {
  if (n < 20) return alone(n);
  long a = 0;
  kilter::batch added(here);
  added.add([&a, n](kilter::task_context& inner) { a = fibonacci(inner, n - 1); });
  added.release();                        // it may start now, on another core
  const long b = fibonacci(here, n - 2);  // meanwhile this core does the other half
  added.wait();                           // a is written when this returns
  return a + b;
}

int main() {
  long result = 0;
  kilter::runtime rt;
  rt.run([&](kilter::task_context& here) { result = fibonacci(here, 30); });
  return result == 832'040 ? 0 : 1;
}

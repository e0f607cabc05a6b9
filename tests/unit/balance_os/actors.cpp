#include "actors.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "balance/os/report.hpp"
#include "host/proc.hpp"

namespace kilter::balance::os::testing {

namespace {

using clock = std::chrono::steady_clock;

/// In the environment of whoever plays a part; another run of the tests at the same time has
/// another.
std::string mark() {
  const char* const id = std::getenv("KILTER_TEST_ID");
  // the whole number, not the beginning of another
  return "KILTER_TEST_ACTOR_OF=" + std::string(id ? id : "") + '\0';
}

void spin_until(clock::time_point end) {
  volatile double x = 1;
  while (clock::now() < end)
    for (int i = 0; i < 20000; ++i) x = x * 1.0000001;
}

void stream_until(clock::time_point end) {
  std::vector<char> from(8 << 20, 1), to(8 << 20);
  while (clock::now() < end) std::memcpy(to.data(), from.data(), from.size());
}

clock::time_point in(double seconds) {
  return clock::now() +
         std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(seconds));
}

template <class Body>
void in_threads(int count, Body body) {
  std::vector<std::thread> all;
  for (int i = 1; i < count; ++i) all.emplace_back(body);
  body();
  for (std::thread& t : all) t.join();
}

/// A daemon as programs make one: its parent is gone before anybody can see it.
void leave_orphan() {
  const pid_t child = ::fork();
  if (child == 0) {
    ::setsid();
    if (::fork() != 0) ::_exit(0);
    ::alarm(60);
    for (;;) ::pause();
  }
  int status = 0;
  ::waitpid(child, &status, 0);
}

void family(double seconds) {
  const auto end = in(seconds);
  while (clock::now() < end) {
    spin_until(std::min(end, in(0.03)));
    leave_orphan();
  }
}

void own_mask_part(double seconds) {
  spin_until(in(0.3));
  const host::cpu_mask all = own_mask();
  int first = 0;
  while (!all.has(first)) ++first;
  static_cast<void>(host::set_affinity(0, host::cpu_mask::of(first)));
  leave_orphan();
  spin_until(in(seconds));
}

[[noreturn]] void become(const std::string& words) {
  std::vector<std::string> all = part(words);
  std::vector<char*> argv;
  for (std::string& w : all) argv.push_back(w.data());
  argv.push_back(nullptr);
  ::execv("/proc/self/exe", argv.data());
  ::_exit(99);
}

}  // namespace

std::vector<std::string> part(const std::string& words) {
  static const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  std::vector<std::string> all{self, "--part"};
  std::istringstream in(words);
  for (std::string w; in >> w;) all.push_back(w);
  return all;
}

void play_part_if_asked(int argc, char** argv) {
  if (argc < 4 || std::strcmp(argv[1], "--part") != 0) return;
  const std::string name = argv[2];
  if (!std::getenv("KILTER_TEST_ACTOR_OF")) {
    ::setenv("KILTER_TEST_ACTOR_OF",
             std::getenv("KILTER_TEST_ID") ? std::getenv("KILTER_TEST_ID") : "", 1);
    ::execv("/proc/self/exe", argv);  // so that it shows in /proc/PID/environ
  }
  const double number = std::atof(argv[3]);
  if (name == "spin")
    in_threads(std::atoi(argv[3]), [end = in(std::atof(argv[4]))] { spin_until(end); });
  if (name == "stream")
    in_threads(std::atoi(argv[3]), [end = in(std::atof(argv[4]))] { stream_until(end); });
  if (name == "doze")
    in_threads(std::atoi(argv[3]), [end = in(std::atof(argv[4]))] {
      for (; clock::now() < end; ::usleep(100000)) spin_until(in(1e-4));
    });
  if (name == "family") family(number);
  if (name == "own-mask") own_mask_part(number);
  if (name == "exec-from-thread") {
    std::thread([&] {
      spin_until(in(0.4));
      become("spin 2 " + std::string(argv[3]));
    }).detach();
    spin_until(in(30));
  }
  if (name == "late-threads") {
    spin_until(in(0.5));
    in_threads(static_cast<int>(number) + 1, [end = in(120)] { spin_until(end); });
  }
  if (name == "churn")
    for (int made = 0; made < static_cast<int>(number); made += 8) in_threads(9, [] {});
  std::_Exit(7);
}

runtime_directory::runtime_directory() : path_(::testing::TempDir() + "kilter-masks-XXXXXX") {
  if (!::mkdtemp(path_.data())) ADD_FAILURE() << "no directory for masks";
  ::setenv("XDG_RUNTIME_DIR", path_.c_str(), 1);
}

runtime_directory::~runtime_directory() {
  ::unsetenv("XDG_RUNTIME_DIR");
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

bool runtime_directory::empty() const { return std::filesystem::is_empty(path_); }

cpuset_group::cpuset_group(const std::string& cpus) {
  static int number = 0;
  for (const std::string root : {"/sys/fs/cgroup/cpuset", "/sys/fs/cgroup"}) {
    path_ = root + "/kilter-test-" + std::to_string(::getpid()) + "-" + std::to_string(number++);
    if (!std::filesystem::exists(root + "/cgroup.procs") || ::mkdir(path_.c_str(), 0700) != 0)
      continue;
    if (put("cpuset.cpus", cpus) && (put("cpuset.mems", "0") || root == "/sys/fs/cgroup")) return;
    ::rmdir(path_.c_str());
  }
  path_.clear();
}

cpuset_group::~cpuset_group() {
  if (!path_.empty() && !eventually([&] { return ::rmdir(path_.c_str()) == 0; }))
    ADD_FAILURE() << path_ << " is left";
}

bool cpuset_group::put(const std::string& file, const std::string& value) const {
  std::ofstream out(path_ + "/" + file);
  out << value << std::flush;
  return static_cast<bool>(out);
}

int first_cpu() {
  int cpu = 0;
  while (!own_mask().has(cpu)) ++cpu;
  return cpu;
}

int last_cpu() {
  int cpu = host::cpu_mask::capacity - 1;
  while (!own_mask().has(cpu)) --cpu;
  return cpu;
}

actor::actor(const std::string& words) {
  pid_ = ::fork();
  if (pid_ == 0) become(words);
}

actor::~actor() {
  ::kill(pid_, SIGKILL);
  int status = 0;
  ::waitpid(pid_, &status, 0);
  kill_all_actors();
}

balancer::balancer(session_options o) {
  run([o = std::move(o)](int output) mutable {
    std::string told;
    o.tell = [&](const std::string& line, bool) { told += line + "\n"; };
    std::string text;
    int status = 0;
    try {
      const session_result r = run_session(machine::local({.smt = true}), o);
      text = session_json(r);
      status = r.program_status && WIFEXITED(*r.program_status) ? WEXITSTATUS(*r.program_status)
                                                                : r.stopped_by;
    } catch (const std::exception& e) {
      text = std::string(e.what()) + "\n";
      status = 125;
    }
    text += told;
    [[maybe_unused]] const auto n = ::write(output, text.data(), text.size());
    return status;
  });
}

balancer::balancer(const std::function<int(int output)>& body) { run(body); }

void balancer::run(const std::function<int(int output)>& body) {
  int ends[2];
  if (::pipe(ends) != 0) std::abort();
  pid_ = ::fork();
  if (pid_ == 0) {
    ::setpgid(0, 0);
    ::close(ends[0]);
    ::_exit(body(ends[1]));
  }
  ::setpgid(pid_, pid_);
  ::close(ends[1]);
  pipe_ = ends[0];
}

balancer::~balancer() {
  if (!waited_) {
    ::kill(-pid_, SIGKILL);
    wait();
  }
  ::close(pipe_);
  kill_all_actors();
}

void balancer::signal(int number, bool group) const { ::kill(group ? -pid_ : pid_, number); }

int balancer::wait() {
  int status = 0;
  ::waitpid(pid_, &status, 0);
  waited_ = true;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

std::string balancer::output() {
  std::string all;
  char part[4096];
  for (ssize_t n; (n = ::read(pipe_, part, sizeof part)) > 0;)
    all.append(part, static_cast<std::size_t>(n));
  return all;
}

std::uint64_t number_in(const std::string& json, const std::string& key) {
  const auto at = json.find("\"" + key + "\":");
  return at == std::string::npos ? 0 : std::stoull(json.substr(at + key.size() + 3));
}

std::vector<seen_thread> actors_now() {
  std::vector<seen_thread> found;
  const std::string wanted = mark();
  for (const pid_t pid : host::all_processes()) {
    std::ifstream in("/proc/" + std::to_string(pid) + "/environ");
    const std::string all((std::istreambuf_iterator<char>(in)), {});
    if (all.find(wanted) == std::string::npos) continue;
    for (const pid_t tid : host::threads_of(pid))
      if (const auto s = host::stat_of(pid, tid); s && s->state != 'Z')
        if (const auto mask = host::affinity_of(tid)) found.push_back({pid, tid, *mask});
  }
  return found;
}

void kill_all_actors() {
  for (int i = 0; i < 100; ++i) {
    const auto all = actors_now();
    if (all.empty()) return;
    for (const seen_thread& t : all) ::kill(t.pid, SIGKILL);
    ::usleep(10000);
    int status = 0;
    while (::waitpid(-1, &status, WNOHANG | WNOWAIT) > 0) break;
  }
}

bool eventually(const std::function<bool()>& condition, double seconds) {
  for (const auto end = in(seconds); clock::now() < end; ::usleep(10000))
    if (condition()) return true;
  return condition();
}

watched_thread self(thread_id id) {
  watched_thread t;
  t.id = id;
  t.pid = t.tid = ::getpid();
  t.stat = host::proc_file(host::stat_path(t.pid, t.tid));
  t.start = host::stat_of(t.stat)->start;
  return t;
}

host::cpu_mask own_mask() { return *host::affinity_of(0); }

bool any_changed() {
  for (const seen_thread& t : actors_now())
    if (!(t.mask == own_mask())) return true;
  return false;
}

bool all_original() {
  const auto all = actors_now();
  for (const seen_thread& t : all)
    if (!(t.mask == own_mask())) return false;
  return !all.empty();
}

std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> found;
  for (const pid_t pid : host::all_processes())
    if (const auto s = host::stat_of(pid, pid); s && s->ppid == parent) found.push_back(pid);
  return found;
}

}  // namespace kilter::balance::os::testing

int main(int argc, char** argv) {
  kilter::balance::os::testing::play_part_if_asked(argc, argv);
  ::setenv("KILTER_TEST_ID", std::to_string(::getpid()).c_str(), 1);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

// The barriers of gemm.wgmma, without a GPU: producers, consumer warps and the copy engine of the
// blocks of a cluster as coroutines in random order, over the kernel's own schedule and ring.
// Nobody may wait for ever, read another stage than its own, or have a stage overwritten that it
// reads.
#include <gtest/gtest.h>

#include <coroutine>
#include <deque>
#include <exception>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "kernels/gemm/schedule.cuh"

namespace roofcast::cuda::gemm {
namespace {

/// An mbarrier: a phase ends when no arrival and no byte is pending. Bytes may come before they are
/// expected.
class Barrier {
 public:
  explicit Barrier(int arrivals) : arrivals_(arrivals), pending_(arrivals) {}
  void arrive() { --pending_, finish(); }
  void expect(int bytes) { bytes_ += bytes, arrive(); }
  void complete(int bytes) { bytes_ -= bytes, finish(); }
  /// mbarrier.try_wait.parity: whether the phase of that parity, this or the one before, has ended.
  bool passed(unsigned parity) const { return (phase_ & 1) != parity; }

 private:
  void finish() {
    ASSERT_GE(pending_, 0);
    if (pending_ == 0 && bytes_ == 0) ++phase_, pending_ = arrivals_;
  }
  int arrivals_, pending_, bytes_ = 0;
  unsigned phase_ = 0;
};

/// A thread of control that may be interrupted anywhere it says co_await.
struct Agent {
  struct promise_type {
    Agent get_return_object() {
      return Agent{std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle;
};

struct Grid {
  int cluster, consumers, warps;  // warps of a warpgroup: two show what four would
  bool ping_pong;
  Schedule schedule;
  int clusters;  // in the grid; the simulated one is the first
};

constexpr int kStages = 3;
constexpr int kHalves = 3;  // of a stage: A, and B's share of each block

class Cluster {
 public:
  Cluster(const Grid& setup, unsigned seed) : setup_(setup), random_(seed) {
    const int freeing = (setup.ping_pong ? 1 : setup.consumers) * setup.warps * setup.cluster;
    for (int rank = 0; rank < setup.cluster; ++rank) {
      Block block;
      for (int s = 0; s < kStages; ++s) {
        block.full.emplace_back(1), block.empty.emplace_back(freeing);
      }
      for (int w = 0; w < 2; ++w) block.turn.emplace_back(setup.warps);
      blocks_.push_back(block);
    }
    for (int rank = 0; rank < setup.cluster; ++rank) {
      agents_.push_back(produce(rank));
      for (int w = 0; w < setup.consumers * setup.warps; ++w) {
        agents_.push_back(consume(rank, w / setup.warps));
      }
    }
  }
  ~Cluster() {
    for (const Agent& agent : agents_) agent.handle.destroy();
  }
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  /// Runs all agents to their end; false on a deadlock.
  bool run() {
    for (int idle = 0; idle < 20000; ++idle) {
      const std::size_t choice = random_() % (agents_.size() + 1);
      if (choice == agents_.size()) {  // the copy engine delivers any copy in flight
        if (!copies_.empty()) {
          std::swap(copies_[random_() % copies_.size()], copies_.back());
          const std::function<void()> copy = copies_.back();
          copies_.pop_back();
          copy();
        }
      } else if (!agents_[choice].handle.done()) {
        agents_[choice].handle.resume();
      }
      if (progressed_) idle = 0;
      progressed_ = false;
      bool done = copies_.empty();
      for (const Agent& agent : agents_) done = done && agent.handle.done();
      if (done) return true;
    }
    return false;
  }
  /// Steps of k, summed over the consumer warps that multiplied them.
  int used() const { return used_; }

 private:
  struct Block {
    std::deque<Barrier> full, empty, turn;
    int tag[kStages][kHalves] = {};  // the copy that each part of a stage holds
    int readers[kStages] = {};
    bool done = false;  ///< its producer waits for nothing more: its shared memory may go
  };

  int tag(int index, int step) const { return 1 + index * 1000 + step; }
  int halves() const { return 1 + setup_.cluster; }

  void deliver(int rank, int stage, int half, int what) {
    Block& block = blocks_[static_cast<std::size_t>(rank)];
    EXPECT_EQ(block.readers[stage], 0) << "a stage is overwritten while it is read";
    block.tag[stage][half] = what;
    block.full[static_cast<std::size_t>(stage)].complete(1);  // one byte a part
    progressed_ = true;
  }

  Agent produce(int rank) {
    Ring<kStages> ring;
    Block& block = blocks_[static_cast<std::size_t>(rank)];
    for (int index = 0; index < setup_.schedule.items(); index += setup_.clusters) {
      const auto item = setup_.schedule.item(index, rank);
      for (int step = item.steps.begin; step < item.steps.past; ++step, ring.advance()) {
        const int stage = ring.stage;
        while (!block.empty[static_cast<std::size_t>(stage)].passed(ring.phase ^ 1)) {
          co_await std::suspend_always{};
        }
        block.full[static_cast<std::size_t>(stage)].expect(halves());
        co_await std::suspend_always{};
        copies_.push_back([=, this] { deliver(rank, stage, 0, tag(index, step)); });
        co_await std::suspend_always{};
        for (int to = 0; to < setup_.cluster; ++to) {  // its share of B, to all
          copies_.push_back([=, this] { deliver(to, stage, 1 + rank, tag(index, step)); });
        }
        progressed_ = true;
        co_await std::suspend_always{};
      }
    }
    for (int s = 0; setup_.cluster > 1 && s < kStages; ++s, ring.advance()) {
      while (!block.empty[static_cast<std::size_t>(ring.stage)].passed(ring.phase ^ 1)) {
        co_await std::suspend_always{};
      }
    }
    block.done = setup_.cluster > 1;
    progressed_ = true;
  }

  Agent consume(int rank, int warpgroup) {
    Ring<kStages> ring;
    Block& block = blocks_[static_cast<std::size_t>(rank)];
    int turn = 0;
    for (int index = 0; index < setup_.schedule.items(); index += setup_.clusters, ++turn) {
      const auto item = setup_.schedule.item(index, rank);
      if (setup_.ping_pong) {
        if (turn % 2 != warpgroup) {
          ring.advance(item.steps.past - item.steps.begin);
          continue;
        }
        const auto parity = static_cast<unsigned>(turn / 2 + 1 - warpgroup) & 1;
        while (!block.turn[static_cast<std::size_t>(warpgroup)].passed(parity)) {
          co_await std::suspend_always{};
        }
      }
      int before = 0;
      const auto release = [&](int stage) {
        --block.readers[stage];
        for (Block& each : blocks_) {
          EXPECT_FALSE(each.done) << "an arrival at a block that may have ended";
          each.empty[static_cast<std::size_t>(stage)].arrive();
        }
      };
      for (int step = item.steps.begin; step < item.steps.past; ++step) {
        while (!block.full[static_cast<std::size_t>(ring.stage)].passed(ring.phase)) {
          co_await std::suspend_always{};
        }
        ++block.readers[ring.stage];
        co_await std::suspend_always{};  // the products run
        for (int half = 0; half < halves(); ++half) {
          EXPECT_EQ(block.tag[ring.stage][half], tag(index, step));
        }
        ++used_;
        if (step > item.steps.begin) release(before);
        before = ring.stage;
        ring.advance();
        progressed_ = true;
        co_await std::suspend_always{};
      }
      if (setup_.ping_pong) block.turn[static_cast<std::size_t>(1 - warpgroup)].arrive();
      co_await std::suspend_always{};
      release(before);
      progressed_ = true;
    }
  }

  Grid setup_;
  std::mt19937 random_;
  std::deque<Block> blocks_;
  std::vector<Agent> agents_;
  std::vector<std::function<void()>> copies_;
  bool progressed_ = false;
  int used_ = 0;
};

// Five tile rows (half of the last pair is beyond C) and three columns. `rest`: only tiles of the
// last round split k.
Grid grid_of(int cluster, bool ping_pong, int k, int parts, int clusters, bool rest) {
  const auto schedule = [&](Split split) {
    return Schedule::of(600, 300, k, 128, 128, 64, cluster, {16}, split);
  };
  const int whole = rest ? in_full_rounds(schedule({}).tiles(), clusters) : 0;
  return {cluster, 2, 2, ping_pong, schedule({whole, parts, rest}), clusters};
}

void expect_to_end(const Grid& setup, unsigned seed) {
  Cluster simulated(setup, seed);
  ASSERT_TRUE(simulated.run());
  int steps = 0;
  for (int i = 0; i < setup.schedule.items(); i += setup.clusters) {
    const Range range = setup.schedule.item(i, 0).steps;
    steps += range.past - range.begin;
  }
  const int sharing = setup.ping_pong ? 1 : setup.consumers;
  EXPECT_EQ(simulated.used(), steps * setup.cluster * setup.warps * sharing);
}

TEST(GemmProtocolTest, NobodyWaitsForEverOrReadsTheWrongStage) {
  for (const int cluster : {1, 2}) {
    for (const bool ping_pong : {false, true}) {
      for (const int k : {40, 64 * 2, 64 * 3 + 1, 64 * 11}) {  // steps: fewer and more than stages
        for (const int parts : {1, 3}) {
          if (parts > (k + 63) / 64) continue;
          // Two clusters split one tile of the last round, four up to three.
          for (const auto& [clusters, rest] : {std::pair{2, false}, {2, true}, {4, true}}) {
            if (rest && parts == 1) continue;
            SCOPED_TRACE(std::to_string(clusters) + " clusters of " + std::to_string(cluster) +
                         ", ping-pong " + std::to_string(ping_pong) + ", k " + std::to_string(k) +
                         ", parts " + std::to_string(parts) + ", rest " + std::to_string(rest));
            for (unsigned seed = 0; seed < 10; ++seed) {
              expect_to_end(grid_of(cluster, ping_pong, k, parts, clusters, rest), seed);
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace roofcast::cuda::gemm

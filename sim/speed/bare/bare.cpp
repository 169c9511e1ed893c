// SPDX-License-Identifier: Apache-2.0
//
// The bare driver of 'make bench': GA-2 in Verilator with the simplest memory, and nothing else. It
// is what the flow's speed is a share of. It replays the programs of replay.bin, which
// sim/speed/plain_flow.py writes and describes, and looks at nothing while they run; that memory and
// counters came out right is compared with the clock stopped.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#include "Vtop.h"
#include "verilated.h"

namespace {

constexpr size_t kDepth = 8192;
constexpr uint64_t kPatience = 100'000'000;  // cycles of one program

struct Program {
  std::vector<uint32_t> info, image, final;
  std::vector<uint32_t> words;  // four an instruction, the lowest first
};

std::vector<uint32_t> take(FILE *file, size_t count) {
  std::vector<uint32_t> words(count);
  if (std::fread(words.data(), 4, count, file) != count) {
    std::fprintf(stderr, "bare: the file of programs ends too early\n");
    std::exit(1);
  }
  for (uint32_t &word : words) word = __builtin_bswap32(word);
  return words;
}

Program read_program(FILE *file) {
  Program program;
  program.info = take(file, 13);
  program.words = take(file, 4 * program.info[1]);
  for (size_t i = 0; i < program.words.size(); i += 4) {
    std::swap(program.words[i], program.words[i + 3]);
    std::swap(program.words[i + 1], program.words[i + 2]);
  }
  program.image = take(file, kDepth);
  program.final = take(file, kDepth);
  // Retire records, external writes and read bursts, which nobody looks at here.
  take(file, 6 * program.info[2] + 2 * program.info[3] + 2 * program.info[4]);
  return program;
}

double cpu_seconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

class Bench {
 public:
  Bench() { top_.rst = 1, cycle(), cycle(), top_.rst = 0; }

  // Runs one program from its image; false when it never ends.
  bool run(const Program &program) {
    program_ = &program;
    latency_ = program.info[0];
    std::memcpy(ext_, program.image.data(), sizeof ext_);
    top_.start = 1;
    cycle();
    top_.start = 0;
    for (uint64_t spent = 0; spent < kPatience; ++spent) {
      cycle();
      if (top_.halted) return true;
    }
    return false;
  }

  bool right() const {
    const std::vector<uint32_t> &info = program_->info;
    const uint32_t seen[] = {top_.cyc_total, top_.cyc_mm, top_.cyc_dma, top_.cyc_vec, top_.n_inst,
                             top_.fault, top_.fault_code, top_.fault_pc};
    return !std::memcmp(seen, &info[5], sizeof seen) &&
           !std::memcmp(ext_, program_->final.data(), sizeof ext_);
  }

  uint32_t cycles() const { return top_.cyc_total; }

 private:
  void cycle() {
    top_.clk = 1;
    top_.eval();
    top_.clk = 0;
    ++now_;
    if (top_.wr_valid && top_.wr_addr < kDepth) ext_[top_.wr_addr] = top_.wr_data;
    top_.resp_valid = head_ != tail_ && due_[head_ % 64] == now_;
    if (top_.resp_valid) top_.resp_data = data_[head_++ % 64];
    if (top_.req_valid) {
      data_[tail_ % 64] = top_.req_addr < kDepth ? ext_[top_.req_addr] : 0;
      due_[tail_++ % 64] = now_ + latency_;
    }
    const size_t at = 4 * size_t(top_.imem_addr);
    if (program_ && at < program_->words.size()) {
      std::memcpy(top_.imem_data.data(), &program_->words[at], 16);
    } else {
      std::memset(top_.imem_data.data(), 0, 16);
    }
    top_.eval();
  }

  Vtop top_;
  const Program *program_ = nullptr;
  uint32_t ext_[kDepth] = {};
  uint32_t data_[64];
  uint64_t due_[64];
  uint64_t now_ = 0, head_ = 0, tail_ = 0, latency_ = 1;
};

}  // namespace

int main(int argc, char **argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: %s replay.bin programs\n", argv[0]), 2;
  FILE *file = std::fopen(argv[1], "rb");
  if (!file) return std::fprintf(stderr, "bare: cannot open %s\n", argv[1]), 1;
  std::vector<Program> programs;
  for (int i = std::atoi(argv[2]); i > 0; --i) programs.push_back(read_program(file));
  Bench bench;
  uint64_t cycles = 0, wrong = 0;
  double seconds = 0;
  for (const Program &program : programs) {
    const double begin = cpu_seconds();
    const bool ended = bench.run(program);
    seconds += cpu_seconds() - begin;
    cycles += bench.cycles();
    wrong += !ended || !bench.right();
  }
  std::printf("END programs %zu cycles %llu wrong %llu cpu_seconds %.6f\n", programs.size(),
              (unsigned long long)cycles, (unsigned long long)wrong, seconds);
  return wrong != 0;
}

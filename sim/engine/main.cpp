// SPDX-License-Identifier: Apache-2.0
//
// Main program of a simulation in Verilator: that of cocotb (share/lib/verilator/verilator.cpp), which
// asks VPI half a dozen questions in every moment of simulated time, with a way past them. While
// Python waits for nothing but a time to come or an edge, this drives the testbench's clock itself
// and asks nothing until that time has come or a single bit that Python may see has changed. Builds
// with waves or code coverage, and benches that are not ga2_tb, are played in cocotb's way.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "Vtop.h"
#include "verilated.h"
#include "verilated_sym_props.h"
#include "verilated_syms.h"
#include "verilated_vpi.h"

extern "C" {
void vlog_startup_routines_bootstrap(void);
}

namespace {

constexpr uint64_t kNever = ~uint64_t{0};
constexpr uint64_t kPeriod = 2;  // ga2_tb.Period

uint64_t main_time = 0;

// The clock of ga2_tb, which leaves it to this program when it is given the plusarg.
class Clock {
 public:
  Clock() {
    const VerilatedScope *scope = Verilated::threadContextp()->scopeFind("ga2_tb");
    if (!scope) return;
    clk_ = bit(scope, "clk");
    enable_ = bit(scope, "clk_enable");
    if (!clk_ || !enable_) return;
    // What Python may wait for an edge of.
    for (const char *name : {"load_ack", "running", "done", "hang", "halted", "fault", "req_valid",
                             "wr_valid", "rd_valid", "st_valid"}) {
      const CData *seen = bit(scope, name);
      if (!seen) vl_fatal(__FILE__, __LINE__, "ga2_tb", name);  // Python would sleep for ever
      seen_.push_back(seen);
    }
    before_.resize(seen_.size());
    const char *told[] = {"", "+ga2_clock_outside"};
    Verilated::threadContextp()->commandArgsAdd(2, told);
    outside_ = true;
  }

  // Time of the next rising edge; the first one is half a period after the clock was enabled.
  uint64_t next() {
    if (next_ == kNever && outside_ && *enable_) next_ = main_time + kPeriod / 2;
    return next_;
  }

  // One rising edge, in which nothing else happens, and the falling edge in no time.
  void cycle(Vtop &top) {
    rise();
    evaluate(top);
  }

  void rise() {
    *clk_ = 1;
    next_ += kPeriod;
  }

  void evaluate(Vtop &top) const {
    top.eval_step();
    if (outside_ && *clk_) {
      *clk_ = 0;
      top.eval_step();
    }
  }

  // Says whether a bit has changed since the last call.
  bool changed() {
    bool any = false;
    for (size_t i = 0; i < seen_.size(); ++i) {
      any |= before_[i] != *seen_[i];
      before_[i] = *seen_[i];
    }
    return any;
  }

 private:
  static CData *bit(const VerilatedScope *scope, const char *name) {
    const VerilatedVar *var = scope->varFind(name);
    return var ? static_cast<CData *>(var->datap()) : nullptr;
  }

  CData *clk_ = nullptr;
  const CData *enable_ = nullptr;
  std::vector<const CData *> seen_;
  std::vector<CData> before_;
  bool outside_ = false;
  uint64_t next_ = kNever;
};

bool settle_value_callbacks() {
  const bool called = VerilatedVpi::callValueCbs();
  if (called) {
    while (VerilatedVpi::callValueCbs()) {
    }
  }
  return called;
}

uint64_t next_delay(Vtop &top) { return top.eventsPending() ? top.nextTimeSlot() : kNever; }

// Evaluates the present moment until nothing more happens in it, as cocotb's main program does.
void evaluate_moment(Vtop &top, Clock &clock) {
  do {
    do {
      clock.evaluate(top);
      VerilatedVpi::clearEvalNeeded();
      VerilatedVpi::doInertialPuts();
      settle_value_callbacks();
    } while (VerilatedVpi::evalNeeded());
    VerilatedVpi::callCbs(cbReadWriteSynch);
    VerilatedVpi::doInertialPuts();
    settle_value_callbacks();
  } while (VerilatedVpi::evalNeeded());
  top.eval_end_step();
  VerilatedVpi::callCbs(cbReadOnlySynch);
}

// Goes on for as long as Python has nothing to say. Returns true when it woke: the moment it woke
// in is not over then.
bool run_alone(Vtop &top, Clock &clock) {
  for (const int reason : {cbReadWriteSynch, cbReadOnlySynch, cbNextSimTime}) {
    if (VerilatedVpi::hasCbs(reason)) return false;
  }
  if (VerilatedVpi::evalNeeded()) return false;
  const uint64_t due = VerilatedVpi::cbNextDeadline();
  uint64_t delay = next_delay(top);
  clock.changed();
  // A moment in which something besides an edge of the clock happens is left to the main program.
  while (clock.next() < std::min(due, delay) && !Verilated::gotFinish()) {
    main_time = clock.next();
    clock.cycle(top);
    if (clock.changed()) {
      if (settle_value_callbacks()) return true;
      delay = next_delay(top);
    }
  }
  return false;
}

// Moves on to the next moment; false when there is none.
bool advance(Vtop &top, Clock &clock) {
  const uint64_t next = std::min({VerilatedVpi::cbNextDeadline(), next_delay(top), clock.next()});
  if (next == kNever) return false;
  main_time = next;
  if (next == clock.next()) clock.rise();
  VerilatedVpi::callCbs(cbNextSimTime);
  settle_value_callbacks();
  VerilatedVpi::callTimedCbs();
  settle_value_callbacks();
  return true;
}

}  // namespace

double sc_time_stamp() { return double(main_time); }

int main(int argc, char **argv) {
  Verilated::commandArgs(argc, argv);
  const std::unique_ptr<Vtop> top(new Vtop(""));
  Verilated::fatalOnVpiError(false);
  Clock clock;
  vlog_startup_routines_bootstrap();
  Verilated::addExitCb([](void *) { VerilatedVpi::callCbs(cbEndOfSimulation); }, nullptr);
  VerilatedVpi::callCbs(cbStartOfSimulation);
  settle_value_callbacks();
  while (!Verilated::gotFinish()) {
    evaluate_moment(*top, clock);
    if (run_alone(*top, clock)) continue;
    if (!Verilated::gotFinish() && !advance(*top, clock)) break;
  }
  top->final();
  VerilatedVpi::callCbs(cbEndOfSimulation);
  return Verilated::threadContextp()->errorCount() > 0;
}

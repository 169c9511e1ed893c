# SPDX-License-Identifier: Apache-2.0
# Builds and runs through cocotb's own makefiles. Called by sim/engine/simulator.py, which gives:
#   SIM, SIM_BUILD, VERILOG_SOURCES, GA2_COMPILE (extra compile options), GA2_MAIN (main program of
#   Verilator's, without it cocotb's), COCOTB_RESULTS_FILE, COCOTB_PLUSARGS, SIM_ARGS.
# 'make -f sim/engine/cocotb.mk ga2-build' compiles only, for Verilator to C++, which
# sim/engine/verilated.py compiles; 'regression' runs what was compiled.

TOPLEVEL_LANG := verilog
COCOTB_TOPLEVEL := ga2_tb
COCOTB_TEST_MODULES := verif.tests.test_programs
COCOTB_HDL_TIMEUNIT := 1ns
COCOTB_HDL_TIMEPRECISION := 1ns

.DEFAULT_GOAL := regression

ifeq ($(SIM),verilator)
# With 'override' what cocotb's makefile would append is ignored: above all --public-flat-rw, which
# halves the speed. public.vlt names what Python touches instead. The rest is what it appends.
cocotb_libs ?= $(shell cocotb-config --lib-dir)
override COMPILE_ARGS := --vpi --prefix Vtop -o Vtop --timing --assert -Wno-fatal \
  --timescale $(COCOTB_HDL_TIMEUNIT)/$(COCOTB_HDL_TIMEPRECISION) \
  -LDFLAGS "-Wl,-rpath,$(cocotb_libs) -L$(cocotb_libs) -lcocotbvpi_verilator" \
  -CFLAGS -std=c++20 \
  --x-initial unique --x-assign unique \
  $(GA2_COMPILE) $(dir $(lastword $(MAKEFILE_LIST)))public.vlt
ifneq ($(GA2_MAIN),)
override VERILATOR_CPP := $(GA2_MAIN)
endif
else
COMPILE_ARGS := $(GA2_COMPILE)
endif

cocotb_makefiles ?= $(shell cocotb-config --makefiles)
include $(cocotb_makefiles)/Makefile.sim

.PHONY: ga2-build
ga2-build: $(if $(filter verilator,$(SIM)),$(SIM_BUILD)/Vtop.mk,$(SIM_BUILD)/sim.vvp)

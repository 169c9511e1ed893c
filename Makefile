# SPDX-License-Identifier: Apache-2.0
# Thin on purpose: it sets up what a target needs and calls the Python front end of the same name.
# A text after '##' is what 'make help' prints.

SIM ?= icarus
VENV ?= .venv
PY := $(VENV)/bin/python

ifeq ($(filter 1icarus 1verilator,$(words $(SIM))$(SIM)),)
$(error SIM=$(SIM): choose icarus or verilator)
endif

# The tools of this project first: the virtual environment, sim/setup/verilator, then what setup unpacked.
export VIRTUAL_ENV := $(abspath $(VENV))
export PATH := $(VIRTUAL_ENV)/bin:$(CURDIR)/sim/setup:$(PATH):$(CURDIR)/.tools/bin
unpacked := $(wildcard $(CURDIR)/.tools/root/usr)
ifneq ($(unpacked),)
export CPATH := $(unpacked)/include:$(firstword $(wildcard $(unpacked)/include/*-linux-*)):$(CPATH)
export LIBRARY_PATH := $(firstword $(wildcard $(unpacked)/lib/*-linux-*)):$(LIBRARY_PATH)
endif

# $(call opt,NAME,--flag): '--flag value' when the variable NAME was given, also when it is empty.
opt = $(if $(filter undefined,$(origin $(1))),,$(2) '$($(1))')
# What every front end that simulates understands.
sim_opts = --sim $(SIM) $(call opt,LAT,--latency) $(call opt,RTL,--rtl) \
  $(if $(filter-out 0,$(WAVES)),--waves)
decode_opts = $(call opt,WINDOWS,--windows) $(call opt,STEPS,--steps) $(call opt,MODEL,--model) \
  $(call opt,SEED,--seed) $(call opt,START,--start) $(call opt,PAGE,--page) $(call opt,POOL,--pool)
program_opts = $(call opt,PROGRAM,--program) $(call opt,EXT,--ext) $(call opt,OUT,--out) \
  $(call opt,DEPTH,--depth) $(call opt,SPAD,--spad) $(call opt,LATS,--latencies) \
  $(call opt,PULSES,--pulses) $(call opt,RESET_AT,--reset-at) $(if $(filter-out 0,$(LATE)),--late)

.DEFAULT_GOAL := all
# Two targets of one make would share build folders: everything in order, one at a time.
.NOTPARALLEL:

##@ Main
.PHONY: all decode compare waves run trace disasm studies
all: decode

decode: setup ## windowed decode on the RTL (default): SIM=icarus|verilator WINDOWS="none 8 4" STEPS=32 MODEL=structured|random SEED=1 START=0 PAGE=4 POOL=64 LAT=8 WAVES=1
	@$(PY) -m sim.decode $(sim_opts) $(decode_opts)

compare: setup-all ## the same in both simulators, which must agree on memory, counters and retire records
	@$(PY) -m sim.decode.compare $(call opt,LAT,--latency) $(decode_opts)

waves: WAVES := 1
waves: decode ## the same with waves, into build/waves (also WAVES=1 with decode and run): STEPS=2 keeps them small

run: setup ## one program on model and RTL: PROGRAM=file.asm|file.hex [EXT=image.hex] [SPAD=spad.hex] [OUT=final.hex] [DEPTH=8192] [LAT=8 | LATS=3,9,1] [PULSES=5,9] [RESET_AT=30 [LATE=1]] SIM=...
	@$(PY) -m sim.programs.run $(sim_opts) $(program_opts)

trace: setup ## instructions of a program on a time line, for Perfetto: PROGRAM=file.asm [EXT=image.hex] and more as for run; OUT=file.trace.json
	@$(PY) -m sim.programs.trace $(sim_opts) $(program_opts)

disasm: setup-python ## print a program as assembly: PROGRAM=file.asm|file.hex
	@$(PY) -m sim.programs.disasm $(call opt,PROGRAM,--program)

studies: setup-python ## page-table log, memory, prefix sharing, window accuracy, serving arithmetic
	@$(PY) -m model.studies

##@ Verification
.PHONY: random directed shrink powerup cov testplan
random: setup ## random programs: SIM=... N=1000 SEED=1 PROFILE=typical|corner|long|matrix|faults|raw|all [JOBS=1] [ONLY=index | FIRST=0] [SHRINK=30]
	@$(PY) -m sim.programs.random_programs $(sim_opts) $(call opt,N,--count) $(call opt,SEED,--seed) \
	  $(call opt,PROFILE,--profile) $(call opt,FIRST,--first) $(call opt,ONLY,--only) \
	  $(call opt,JOBS,--jobs) $(call opt,SHRINK,--shrink)

directed: setup ## directed programs of every feature: SIM=... [NAME="softmax mm_*"] [QUICK=1] [LIST=1] [SHRINK=0]
	@$(PY) -m sim.programs.directed $(sim_opts) $(call opt,NAME,--name) $(if $(filter-out 0,$(QUICK)),--quick) \
	  $(if $(filter-out 0,$(LIST)),--list) $(call opt,SHRINK,--shrink)

shrink: setup ## reduce a failing program of any run: FAILURE=build/jobs/<job>/failing/<n> SIM=... [SHRINK=30]
	@$(PY) -m sim.programs.shrink $(sim_opts) $(call opt,FAILURE,--failure) $(call opt,SHRINK,--seconds)

powerup: ## directed and random programs from two random initial states in Verilator: [N=100] [SEED=1]
	@$(MAKE) -s setup SIM=verilator
	@$(PY) -m sim.programs.powerup --sim verilator $(call opt,RTL,--rtl) $(call opt,N,--count) $(call opt,SEED,--seed)

cov: setup-all ## functional and code coverage of directed, random and decode programs, every hole named: [SIM=verilator|icarus] [N=programs of each profile] [SEED=1] [JOBS=n] [ALSO=folder of other runs]
	@$(PY) -m sim.coverage $(if $(filter file,$(origin SIM)),,--sim $(SIM)) $(call opt,N,--programs) \
	  $(call opt,SEED,--seed) $(call opt,JOBS,--jobs) $(call opt,ALSO,--also)

testplan: setup-python ## features of the ISA, their tests with the last outcome, their coverage: [ALL=1] fails when a test did not run
	@$(PY) -m sim.plan $(if $(filter-out 0,$(ALL)),--all-ran)

##@ Quality
.PHONY: test lint bench
test: setup-all ## everything that must pass: ruff, mypy, RTL lint, then every test
	@$(PY) -m sim.lint
	@$(PY) -m pytest -n auto --dist loadfile --junitxml=build/results/pytest$(if $(PYTEST),-part).xml $(PYTEST)

lint: setup-all ## only the static checks: ruff, mypy, Verilator and Icarus with all warnings
	@$(PY) -m sim.lint

.PHONY: mutate mutate-model
mutate: setup-all ## seeded faults of the RTL against the tests, resuming where it stopped: [SAMPLE=n of each kind, 0 for all] [FRESH=1] [JOBS=n] [VERIFY=n]
	@$(PY) -m sim.mutate.rtl $(call opt,SAMPLE,--sample) $(if $(filter-out 0,$(FRESH)),--fresh) \
	  $(call opt,JOBS,--jobs) $(call opt,VERIFY,--verify)

mutate-model: setup-python ## mutants of the reference model against its tests, resuming where it stopped: [MODULES="page_table fixed_point"] [SAMPLE=100, 0 for all] [SEED=1] [FRESH=1] [JOBS=n]
	@$(PY) -m sim.mutate.model $(if $(MODULES),--modules $(MODULES)) $(call opt,SAMPLE,--sample) \
	  $(call opt,SEED,--seed) $(if $(filter-out 0,$(FRESH)),--fresh) $(call opt,JOBS,--jobs)

bench: setup-all ## speed: pyuvm flow against a plain SystemVerilog testbench, model against RTL, start-up, cached build
	@$(PY) -m sim.speed

.PHONY: formal gls
formal: setup-python ## prove the RTL's properties, and refute each on a mutant: MODULES="divider load" MUTANTS=0 JOBS=n RTL=folder
	@$(PY) -m sim.formal $(call opt,MODULES,--modules) $(call opt,JOBS,--jobs) $(call opt,RTL,--rtl) \
	  $(if $(filter 0,$(MUTANTS)),--no-mutants)

gls: setup-all ## synthesize with Yosys, run decode and random programs on the netlists: TARGETS="generic ice40" SIMS="verilator icarus" STEPS=32 N=200
	@$(PY) -m sim.gates $(call opt,TARGETS,--targets) $(call opt,SIMS,--sims) $(call opt,STEPS,--steps) \
	  $(call opt,N,--random) $(call opt,SEED,--seed)

##@ Regressions
.PHONY: regress regress-rerun test-slurm bench-regress
regress: setup-all ## many jobs, here or on a farm: SUITE=smoke|nightly|full JOBS=n CLUSTER=local|slurm|lsf|sge|pbs SEED=1 RESUME=1
	@$(PY) -m sim.regress $(call opt,SUITE,--suite) $(call opt,JOBS,--jobs) \
	  $(call opt,CLUSTER,--cluster) $(call opt,SEED,--seed) $(if $(filter-out 0,$(RESUME)),--resume)

regress-rerun: setup-all ## one job of a regression again, same seed, with waves: JOB=id [RUN=latest]
	@$(PY) -m sim.regress.rerun $(call opt,RUN,--run) $(call opt,JOB,--job)

test-slurm: setup-all ## the smoke suite on a private Slurm, with a worker killed in the middle
	@$(PY) -m sim.regress.slurm $(call opt,SUITE,--suite)

bench-regress: setup-all ## cost of the engine: 10,000 empty jobs, against a shell loop, two cores against one, Ctrl-C
	@$(PY) -m sim.regress.bench $(call opt,SUITE,--suite) $(call opt,PARTS,--parts)

##@ Report
.PHONY: report test-report
report: setup-python ## one HTML folder, build/report, of everything that has run so far; opens offline
	@$(PY) -m sim.report $(call opt,OUT,--out)

test-report: setup-all ## look at the report in a real Chromium (installed by apt when it is missing, as root)
	@sim/setup/setup.sh chromium
	@$(PY) -m pytest $(PYTEST) tests/tools/test_report.py

##@ Upkeep
.PHONY: setup setup-all setup-python clean distclean help
setup: setup-python ## set up what SIM needs (every target does it by itself; PYTHON=python3.12 chooses)
	@sim/setup/setup.sh $(SIM)

setup-all: setup-python
	@sim/setup/setup.sh icarus verilator

setup-python:
	@PYTHON='$(PYTHON)' VENV='$(VENV)' sim/setup/setup.sh python

clean: ## remove compiled simulations, results and caches
	rm -rf build .mypy_cache .ruff_cache .pytest_cache .hypothesis

distclean: clean ## remove the virtual environment and unpacked tools as well
	rm -rf $(VENV) .tools

help: ## this text
	@awk -F ':.*## ' '/^##@ /{printf "\n%s\n", substr($$0, 5)} /^[a-z-]+:.*## /{printf "  %-13s %s\n", $$1, $$2}' Makefile

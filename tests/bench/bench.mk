# Benchmarks. tests/bench/bench_NAME.c are found by name (see tests/bench/bench.h).

BENCHES     := $(patsubst tests/bench/bench_%.c,%,$(filter tests/bench/bench_%.c,$(BENCH_SRC)))
BENCH_OBJ   := $(filter-out $(B)/tests/bench/bench.o,$(BENCH_SRC:%.c=$(B)/%.o))
# BENCH=name runs only that one, RUNS=3 runs all three times.
BENCH       ?=
RUNS        ?= 1

# The list is rewritten when a file is added or removed.
$(B)/tests/benches.h: FORCE
	@mkdir -p $(@D)
	@printf 'BENCH(%s)\n' $(BENCHES) > $@.new; cmp -s $@.new $@ || mv $@.new $@; rm -f $@.new
$(B)/tests/bench/bench.o: EXTRA += -DEK_BENCHES='"$(B)/tests/benches.h"'
$(B)/tests/bench/bench.o: $(B)/tests/benches.h

$(B)/bench: $(B)/tests/bench/bench.o $(BENCH_OBJ) $(LIBRARIES)
	$(call say,LD)
	$(Q)$(CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $^ $(CHECK_LIBS) $(LIB_LIBS)

BENCH_WORLD  := $(B)/tests/bench/world.o
# Peers in separate processes alternate with our benchmarks; tests/bench/run.sh has their names.
TIME_SCORES  := $(B)/tests/bench/peers/time_scores
$(TIME_SCORES): $(TIME_SCORES).o $(LIBRARIES)
	$(call say,LD)
	$(Q)$(CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $^ $(CHECK_LIBS) $(LIB_LIBS)

TIME_SKETCH  := $(B)/tests/bench/peers/time_sketch
$(TIME_SKETCH): $(TIME_SKETCH).o $(BENCH_WORLD) $(LIBRARIES)
	$(call say,LD)
	$(Q)$(CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $^ $(CHECK_LIBS) $(LIB_LIBS)

TIME_TEXTS   := $(B)/tests/bench/peers/time_texts
$(TIME_TEXTS): $(TIME_TEXTS).o $(BENCH_WORLD) $(LIBRARIES)
	$(call say,LD)
	$(Q)$(CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $^ $(ALL_LIBS)

# Programs of the benchmarks on a broker: tests/bench/kafka/NAME.c.
BENCH_KAFKA := $(patsubst tests/bench/kafka/%.c,$(B)/tests/bench/kafka/%,$(wildcard tests/bench/kafka/*.c))
$(BENCH_KAFKA): %: %.o $(BENCH_WORLD) $(ARCHIVES)
	$(call say,LD)
	$(Q)$(CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $^ $(ALL_LIBS)

# `make check` does not run them, but compiles them.
TEST_BINARIES += $(B)/bench $(TIME_SCORES) $(TIME_SKETCH) $(TIME_TEXTS) $(BENCH_KAFKA)

bench: $(B)/bench $(B)/evenkeel $(TIME_SCORES) $(TIME_SKETCH) $(TIME_TEXTS) $(BENCH_KAFKA) $(B)/tests/kafka/ektool ## every benchmark, medians in build/bench.jsonl (BENCH=name: one, RUNS=3)
	@MAKE='$(MAKE)' sh tests/bench/run.sh $(B) $(RUNS) $(BENCH)

check-bench: $(B)/bench $(TIME_SKETCH) $(B)/tests/bench/kafka/clients ## that the benchmarks run and their lines can be read
	@$(PYTHON) tests/bench/smoke.py $(B)
performance: ## the tables of docs/cost.md, docs/sizing.md and docs/dev/performance.md out of build/bench.jsonl
	@$(PYTHON) -B tests/bench/performance.py $(B)/bench.jsonl docs/dev/performance.md docs/cost.md docs/sizing.md
	@$(PYTHON) -B tests/bench/plots.py $(B)/bench.jsonl docs/dev/performance.svg
plots: ## the picture alone
	@$(PYTHON) -B tests/bench/plots.py $(B)/bench.jsonl docs/dev/performance.svg

-include $(BENCH_OBJ:.o=.d) $(B)/tests/bench/bench.d $(TIME_SCORES).d $(TIME_SKETCH).d $(TIME_TEXTS).d $(BENCH_KAFKA:=.d)
.PHONY: bench check-bench performance plots

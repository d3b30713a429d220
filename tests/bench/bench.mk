# Benchmarks: tests/bench/bench_NAME.c are found by their names (see tests/bench/bench.h).

BENCHES     := $(patsubst tests/bench/bench_%.c,%,$(filter tests/bench/bench_%.c,$(BENCH_SRC)))
BENCH_OBJ   := $(filter-out $(B)/tests/bench/bench.o,$(BENCH_SRC:%.c=$(B)/%.o))
# BENCH=name runs only that one.
BENCH       ?=

# The list is rewritten when a file comes or goes.
$(B)/tests/benches.h: FORCE
	@mkdir -p $(@D)
	@printf 'BENCH(%s)\n' $(BENCHES) > $@.new; cmp -s $@.new $@ || mv $@.new $@; rm -f $@.new
$(B)/tests/bench/bench.o: EXTRA += -DEK_BENCHES='"$(B)/tests/benches.h"'
$(B)/tests/bench/bench.o: $(B)/tests/benches.h

$(B)/bench: $(B)/tests/bench/bench.o $(BENCH_OBJ) $(B)/libevenkeel.a
	$(call say,LD)
	$(Q)$(CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $^ $(LIB_LIBS)

# Peers that are not linked in: tests/bench/peers/NAME.py, which take turns with ours.
PEER_BENCHES := onnx train
TIME_SCORES  := $(B)/tests/bench/peers/time_scores
$(TIME_SCORES): $(TIME_SCORES).o $(B)/libevenkeel.a
	$(call say,LD)
	$(Q)$(CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $^ $(LIB_LIBS)

# Nobody runs them in `make check`, but they are to compile.
TEST_BINARIES += $(B)/bench $(TIME_SCORES)

bench: $(B)/bench $(B)/evenkeel $(TIME_SCORES) ## every benchmark, results in build/bench.jsonl (BENCH=name: one)
	$(Q)rm -f $(B)/bench.jsonl
	$(Q)$(if $(BENCH),$(if $(filter-out $(PEER_BENCHES),$(BENCH)),$< --out $(B)/bench.jsonl $(filter-out $(PEER_BENCHES),$(BENCH))), \
	  $< --out $(B)/bench.jsonl)
	$(Q)$(if $(BENCH),$(if $(filter $(PEER_BENCHES),$(BENCH)),sh tests/bench/peers/run.sh $(B) $(B)/bench.jsonl $(filter $(PEER_BENCHES),$(BENCH))), \
	  sh tests/bench/peers/run.sh $(B) $(B)/bench.jsonl $(PEER_BENCHES))

-include $(BENCH_OBJ:.o=.d) $(B)/tests/bench/bench.d $(TIME_SCORES).d
.PHONY: bench

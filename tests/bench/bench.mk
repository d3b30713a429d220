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

bench: $(B)/bench ## every benchmark, results in build/bench.jsonl (BENCH=name: one)
	$(Q)rm -f $(B)/bench.jsonl
	$< --out $(B)/bench.jsonl $(BENCH)

-include $(BENCH_OBJ:.o=.d) $(B)/tests/bench/bench.d
.PHONY: bench

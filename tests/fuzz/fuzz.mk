# Fuzzing: tests/fuzz/fuzz_NAME.c are found by their names (see tests/fuzz/fuzz.h).

FUZZ_NAMES   := $(patsubst tests/fuzz/fuzz_%.c,%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
FUZZ_OBJ     := $(FUZZ_NAMES:%=$(B)/tests/fuzz/fuzz_%.o) $(B)/tests/fuzz/main.o
FUZZ_BINARIES := $(FUZZ_NAMES:%=$(B)/fuzz/%)
MUTATIONS    ?= 2000
TARGET       ?= codec
TIME         ?= 60

# The replay runs with sanitizers: what is sought is the read of one byte too many.
FUZZ_SANITIZE := SANITIZE=address,undefined

$(B)/fuzz/%: $(B)/tests/fuzz/fuzz_%.o $(B)/tests/fuzz/main.o $(B)/libevenkeel.a
	$(call say,LD)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $^ $(LIB_LIBS)
.SECONDARY: $(FUZZ_OBJ)

fuzz-binaries: $(FUZZ_BINARIES)
fuzz-replay: $(FUZZ_BINARIES)
	@for name in $(FUZZ_NAMES); do \
	  echo "$$name: the corpus and $(MUTATIONS) mutations of each file"; \
	  ASAN_OPTIONS=abort_on_error=1 UBSAN_OPTIONS=abort_on_error=1:print_stacktrace=1 \
	  $(B)/fuzz/$$name tests/fuzz/corpus/$$name $(MUTATIONS) || { echo '0 passed, 1 failed'; exit 1; }; \
	done

check-fuzz: ## corpus of every fuzz target and mutations of it, with sanitizers
	@$(MAKE) --no-print-directory $(FUZZ_SANITIZE) fuzz-replay
check-binaries: check-fuzz-binaries
check-fuzz-binaries:
	@$(MAKE) --no-print-directory $(FUZZ_SANITIZE) fuzz-binaries

# libFuzzer: new inputs are collected under build/, the ones committed are read only.
FUZZ_CORPUS = build/fuzz-corpus/$(TARGET)
FUZZ_B      = build/fuzzer-no-link-address-undefined
fuzz: ## libFuzzer on one target (TARGET=codec TIME=60); needs clang
	@mkdir -p $(FUZZ_CORPUS)
	@$(MAKE) --no-print-directory CC=clang CXX=clang++ WARN=-w SANITIZE=fuzzer-no-link,address,undefined \
	  $(FUZZ_B)/libfuzzer/$(TARGET)
	$(FUZZ_B)/libfuzzer/$(TARGET) -max_total_time=$(TIME) -timeout=10 -rss_limit_mb=2048 \
	  -artifact_prefix=$(FUZZ_CORPUS)- $(FUZZ_CORPUS) tests/fuzz/corpus/$(TARGET)
$(B)/libfuzzer/%: $(B)/tests/fuzz/fuzz_%.o $(B)/libevenkeel.a
	$(call say,LD)
	@mkdir -p $(@D)
	$(Q)$(CC) -fsanitize=fuzzer,address,undefined $(LDFLAGS) -o $@ $^ $(LIB_LIBS)

-include $(FUZZ_OBJ:.o=.d)
.PHONY: fuzz-binaries fuzz-replay check-fuzz check-fuzz-binaries fuzz

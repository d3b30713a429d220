# Fuzzing (docs/dev/fuzzing.md). tests/fuzz/fuzz_NAME.c are found by name (see tests/fuzz/fuzz.h).

FUZZ_NAMES   := $(patsubst tests/fuzz/fuzz_%.c,%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
FUZZ_OBJ     := $(FUZZ_NAMES:%=$(B)/tests/fuzz/fuzz_%.o) $(B)/tests/fuzz/main.o $(B)/tests/fuzz/afl.o
FUZZ_BINARIES := $(FUZZ_NAMES:%=$(B)/fuzz/%)
MUTATIONS    ?= 1000
TARGET       ?= codec
TIME         ?= 60
CLANG        ?= clang

# Code shared by targets; an archive, so that each target links only the parts that it uses.
FUZZ_SHARED  := $(filter-out tests/fuzz/fuzz_%.c tests/fuzz/main.c tests/fuzz/afl.c tests/fuzz/bytes.c,$(sort $(wildcard tests/fuzz/*.c)))
FUZZ_SHARED_OBJ := $(FUZZ_SHARED:%.c=$(B)/%.o)
FUZZ_PARTS   = $(B)/fuzz/shared.a $(ARCHIVES)
$(B)/fuzz/shared.a: $(FUZZ_SHARED_OBJ)
	@mkdir -p $(@D)
	$(call say,AR)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

# The replay uses sanitizers, to detect reads beyond a buffer.
FUZZ_SANITIZE := SANITIZE=address,undefined
FUZZ_OPTIONS  := ASAN_OPTIONS=abort_on_error=1 UBSAN_OPTIONS=abort_on_error=1:print_stacktrace=1

$(B)/fuzz/%: $(B)/tests/fuzz/fuzz_%.o $(B)/tests/fuzz/main.o $(B)/tests/fuzz/bytes.o $(FUZZ_PARTS)
	$(call say,LD)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $^ $(CHECK_LIBS) $(ALL_LIBS)
.SECONDARY: $(FUZZ_OBJ) $(FUZZ_SHARED_OBJ) $(B)/tests/fuzz/bytes.o

# Targets with a run above a tenth of a millisecond have fewer mutations; those that simulate minutes of a stream, or
# wait for responses, very few.
FUZZ_SLOWEST := company guard http
FUZZ_SLOW := api capture choice collection config fleet index manifest mapped model profile queries rules state trees units yaml

fuzz-binaries: $(FUZZ_BINARIES)
fuzz-replay: $(FUZZ_BINARIES)
	@for name in $(FUZZ_NAMES); do \
	  mutations=$(MUTATIONS); case ' $(FUZZ_SLOW) ' in *" $$name "*) mutations=$$(($(MUTATIONS) / 10)) ;; esac; \
	  case ' $(FUZZ_SLOWEST) ' in *" $$name "*) mutations=$$(($(MUTATIONS) / 100)) ;; esac; \
	  echo "$$name: the corpus and $$mutations mutations of each file"; \
	  $(FUZZ_OPTIONS) $(B)/fuzz/$$name tests/fuzz/corpus/$$name $$mutations || { echo '0 passed, 1 failed'; exit 1; }; \
	done

check-fuzz: ## corpus of every fuzz target and mutations of it, with sanitizers
	@$(MAKE) --no-print-directory $(FUZZ_SANITIZE) fuzz-replay
check-binaries: check-fuzz-binaries
check-fuzz-binaries:
	@$(MAKE) --no-print-directory $(FUZZ_SANITIZE) fuzz-binaries

deps-fuzz: ## install what fuzzing needs (clang, its libFuzzer, AFL++), if anything
	@deploy/deps.sh fuzz

# libFuzzer: new inputs are written under build/; the committed ones are read only.
FUZZ_B    = build/fuzzer-no-link-address-undefined
FUZZ_MAKE = $(MAKE) --no-print-directory CC='$(CLANG)' CXX='$(CLANG)++' WARN=-w SANITIZE=fuzzer-no-link,address,undefined
fuzz: deps-fuzz ## libFuzzer on one target (TARGET=codec TIME=60); needs clang
	@$(FUZZ_MAKE) $(FUZZ_B)/libfuzzer/$(TARGET)
	@$(PYTHON) tests/fuzz/run.py --build $(FUZZ_B) --time $(TIME) --watch $(TARGET)
fuzz-all: deps-fuzz ## libFuzzer on every target in turn, TIME seconds each, and a table of what came of it
	@$(FUZZ_MAKE) $(FUZZ_NAMES:%=$(FUZZ_B)/libfuzzer/%)
	@$(PYTHON) tests/fuzz/run.py --build $(FUZZ_B) --time $(TIME) $(FUZZ_NAMES)
$(B)/libfuzzer/%: $(B)/tests/fuzz/fuzz_%.o $(FUZZ_PARTS)
	$(call say,LD)
	@mkdir -p $(@D)
	$(Q)$(CC) -fsanitize=fuzzer,address,undefined $(LDFLAGS) -o $@ $^ $(CHECK_LIBS) $(ALL_LIBS)

# AFL++, a second engine: other mutations, the same targets.
fuzz-afl: deps-fuzz ## AFL++ on one target (TARGET=codec TIME=60)
	@$(MAKE) --no-print-directory B=build/afl CC=afl-clang-fast CXX=afl-clang-fast++ WARN=-w SANITIZE=address,undefined \
	  build/afl/afl/$(TARGET)
	@$(PYTHON) tests/fuzz/run.py --build build/afl --afl --time $(TIME) $(TARGET)
$(B)/afl/%: $(B)/tests/fuzz/fuzz_%.o $(B)/tests/fuzz/afl.o $(B)/tests/fuzz/bytes.o $(FUZZ_PARTS)
	$(call say,LD)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $^ $(CHECK_LIBS) $(ALL_LIBS)

# Coverage of the files of a target by its inputs.
COVER_FLAGS := -fprofile-instr-generate -fcoverage-mapping
fuzz-coverage: deps-fuzz ## lines that the inputs of a target reach (TARGET=codec; all: every one)
	@$(MAKE) --no-print-directory B=build/coverage CC='$(CLANG)' CXX='$(CLANG)++' WARN=-w CFLAGS='-O1 -g $(COVER_FLAGS)' \
	  LDFLAGS='$(COVER_FLAGS)' $(patsubst %,build/coverage/fuzz/%,$(if $(filter all,$(TARGET)),$(FUZZ_NAMES),$(TARGET)))
	@$(PYTHON) tests/fuzz/coverage.py --build build/coverage $(if $(filter all,$(TARGET)),$(FUZZ_NAMES),$(TARGET))

-include $(FUZZ_OBJ:.o=.d) $(FUZZ_SHARED_OBJ:.o=.d) $(B)/tests/fuzz/bytes.d
.PHONY: fuzz-binaries fuzz-replay check-fuzz check-fuzz-binaries deps-fuzz fuzz fuzz-all fuzz-afl fuzz-coverage

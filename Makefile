# evenkeel. `make help` lists the targets.

VERSION := 0.1.0
PREFIX  ?= /usr/local
DESTDIR ?=

# Parts are found by folder, so a new file needs no line here.
LIB_SRC    := $(sort $(wildcard lib/*/*.c lib/offline/fit/*.c))
LIB_CXX    := $(sort $(wildcard lib/*/*.cc))
# Of the programs alone: the installed library has nothing of it.
OFFLINE_SRC := $(sort $(filter-out $(LIB_SRC),$(wildcard lib/offline/*/*.c lib/text/*/*.c)))
MAIN_SRC   := daemon/main.c daemon/tools/main.c
DAEMON_SRC := $(sort $(filter-out $(MAIN_SRC),$(wildcard daemon/*/*.c daemon/tools/*/*.c)))
PROGRAM_SRC := $(LIB_SRC) $(OFFLINE_SRC) $(DAEMON_SRC) $(MAIN_SRC)
UNIT_SRC   := $(sort $(wildcard tests/unit/*/*/test_*.c tests/unit/*/*/*/test_*.c))
PROP_SRC   := $(sort $(wildcard tests/prop/test_*.c))
BENCH_SRC  := $(sort $(wildcard tests/bench/*.c))

# SANITIZE=address,undefined (or thread) builds into a folder of its own.
SANITIZE ?=
comma := ,
# ISA=portable (avx2, ...): as on a machine that has no wider instruction set.
ISA      ?=
B := build$(if $(SANITIZE),/$(subst $(comma),-,$(SANITIZE)))$(if $(ISA),/$(ISA))

# Asked once, when the first compiler call needs the answer: after `make deps` had its chance.
PKG_CONFIG ?= pkg-config
once = $(eval $(1) := $(2))$($(1))
MSGPACK     = $(call once,MSGPACK,$(shell $(PKG_CONFIG) --exists msgpack-c 2>/dev/null && echo msgpack-c || echo msgpack))
# Other systems than Linux with the GNU C library: Alpine, macOS.
MACOS      := $(filter Darwin,$(shell uname -s))
MUSL        = $(call once,MUSL,$(findstring musl,$(shell $(CC) -dumpmachine)))
ARGP_LIBS   = $(if $(MACOS)$(MUSL),-largp)
LIB_PKGS    = $(MSGPACK) yaml-0.1 simdjson libzstd zlib libxxhash
DAEMON_PKGS = rdkafka libmicrohttpd libcurl libcrypto
TOOLS_PKGS  = libutf8proc libzip
# The headers of others are not held to our warnings.
PKG_CFLAGS  = $(call once,PKG_CFLAGS,$(patsubst -I%,-isystem%,$(shell $(PKG_CONFIG) --cflags $(LIB_PKGS) $(DAEMON_PKGS) $(TOOLS_PKGS) check)))
LIB_LIBS    = $(call once,LIB_LIBS,$(shell $(PKG_CONFIG) --libs $(LIB_PKGS)) $(if $(MACOS),-lc++,-lstdc++) -lm)
DAEMON_LIBS = $(call once,DAEMON_LIBS,$(shell $(PKG_CONFIG) --libs $(DAEMON_PKGS)) $(ARGP_LIBS) -lpthread)
TOOLS_LIBS  = $(call once,TOOLS_LIBS,$(shell $(PKG_CONFIG) --libs $(TOOLS_PKGS)) -lstreamvbyte -lstemmer $(ARGP_LIBS) -lpthread)
ALL_LIBS    = $(TOOLS_LIBS) $(DAEMON_LIBS) $(LIB_LIBS)
# Jansson is the second reader of JSON in tests.
CHECK_LIBS  = $(call once,CHECK_LIBS,$(shell $(PKG_CONFIG) --libs check jansson))

CC      ?= cc
CXX     ?= c++
PYTHON  ?= python3
CFLAGS  ?= $(if $(SANITIZE),-Og -g1,-O3 -g)
# Addresses of functions cannot be written over once the program runs.
LDFLAGS ?= $(if $(MACOS),,-Wl,-z,relro,-z,now)
# Functions that nothing reaches are left out of what is installed.
UNUSED   = $(if $(MACOS),-Wl$(comma)-dead_strip,-Wl$(comma)--gc-sections)
WARN    := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla \
           -Wformat=2 -Wundef -Wpointer-arith -Wwrite-strings -Werror
# There math.h has lgamma_r only with _REENTRANT. Another compiler warns of other things.
MACOS_CFLAGS := -D_REENTRANT -Wno-error
# Where it was built leaves no trace: the same sources give the same bytes (`make check-reproducible`).
SAME_ANYWHERE := -ffile-prefix-map=$(CURDIR)=.
# No fused multiply-add by the compiler's own choice: every instruction set must decide alike.
BASE_CFLAGS := -std=c11 -D_GNU_SOURCE -Ilib -I. -I$(B)/generated -DEK_VERSION='"$(VERSION)"' -fPIC \
               -ffunction-sections -fdata-sections -fno-math-errno -ffp-contract=off $(SAME_ANYWHERE) $(WARN)
ifneq ($(ISA),)
BASE_CFLAGS += -DEK_ISA_WIDEST=EK_ISA_$(shell echo $(ISA) | tr a-z A-Z)
endif
# gcc knows less about ranges in instrumented code and then warns of what cannot be.
SAN_FLAGS := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer -fno-sanitize-recover=all \
               -Wno-format-truncation -Wno-maybe-uninitialized)
# C++ is there for one library alone, and without what C callers could not take.
BASE_CXXFLAGS := -std=c++17 -fno-exceptions -fno-rtti -DSIMDJSON_EXCEPTIONS=0 \
                 $(filter-out -std=c11 -Wstrict-prototypes -Wmissing-prototypes,$(BASE_CFLAGS))
SYSTEM_CFLAGS = $(if $(MACOS),$(MACOS_CFLAGS))
ALL_CXXFLAGS = $(CFLAGS) $(BASE_CXXFLAGS) $(SYSTEM_CFLAGS) $(SAN_FLAGS) $(PKG_CFLAGS)
ALL_CFLAGS = $(CFLAGS) $(BASE_CFLAGS) $(SYSTEM_CFLAGS) $(SAN_FLAGS) $(PKG_CFLAGS)

LIB_OBJ    := $(LIB_SRC:%.c=$(B)/%.o) $(LIB_CXX:%.cc=$(B)/%.o)
OFFLINE_OBJ := $(OFFLINE_SRC:%.c=$(B)/%.o)
DAEMON_OBJ := $(DAEMON_SRC:%.c=$(B)/%.o)
UNIT_OBJ   := $(UNIT_SRC:%.c=$(B)/%.o)
PROP_OBJ   := $(PROP_SRC:%.c=$(B)/%.o)

.DEFAULT_GOAL := all
# macOS has the static library alone.
SHARED := $(if $(MACOS),,$(B)/libevenkeel.so)
all: $(B)/evenkeel $(B)/evenkeel-tools $(B)/libevenkeel.a $(SHARED) ## build the programs and the library

# A recursive make that uses every processor, unless the caller said how many.
PARALLEL = $(if $(filter --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc))

demo: deps-build ## the whole story in a minute; installs what is missing and builds first
	@$(MAKE) --no-print-directory $(PARALLEL) $(B)/evenkeel
	$(B)/evenkeel demo
check: deps deps-broker deps-watch deps-tests deps-lint ## all the tests; installs what is missing and builds first
	@$(MAKE) --no-print-directory $(PARALLEL) all check-binaries
	@$(MAKE) --no-print-directory check-parts
deps: deps-build deps-wheel ## install what the build needs (Debian), if anything
deps-build:
	@deploy/deps.sh
deps-wheel: ## install what the Python package needs, if anything
	@SYSTEM_PYTHON=$(WHEEL_PYTHON) deploy/deps.sh wheel
deps-broker: ## install what the test broker needs (Java, Maven), if anything
	@deploy/deps.sh broker
deps-watch: ## install what takes alerts and reads metrics in tests (Alertmanager, promtool), if anything
	@deploy/deps.sh watch

deps-tests: ## install programs and Python modules of the other tests, if anything
	@deploy/deps.sh tests
deps-lint: ## install what the gates check layout, spelling and code with, if anything
	@deploy/deps.sh lint

# V=1 shows the commands.
Q := $(if $(V),,@)
say = $(if $(V),,@echo '  $(1) $@')

$(B)/%.o: %.c $(B)/flags.stamp
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(ALL_CFLAGS) $(EXTRA) -MMD -MP -c -o $@ $<
$(B)/%.o: %.cc $(B)/flags.stamp
	@mkdir -p $(@D)
	$(call say,CXX)
	$(Q)$(CXX) $(ALL_CXXFLAGS) -MMD -MP -c -o $@ $<
$(B)/tests/%.o: EXTRA := -Wno-missing-prototypes
# gcc 13 aligns variables of 64 bytes to 32 on the stack on which AddressSanitizer looks for uses after a return.
$(B)/lib/num/kernels_avx512.o: EXTRA := $(if $(findstring address,$(SANITIZE)),--param=asan-use-after-return=0)
# Tests of this kind compile twice as fast, and run as fast.
$(B)/tests/unit/%.o $(B)/tests/alloc/%.o: EXTRA := -Wno-missing-prototypes -O1

# A file that is written only when its content changes.
keep = @mkdir -p $(@D); $(1) | cmp -s - $@ || $(1) > $@

# Rebuild everything when the flags change, but not when the folder was only moved; say what is missing before the compiler does.
FLAGS = $(CC) $(CFLAGS) $(filter-out $(SAME_ANYWHERE),$(BASE_CFLAGS)) $(SAN_FLAGS)
$(B)/flags.stamp: FORCE
	@$(PKG_CONFIG) --exists $(LIB_PKGS) $(DAEMON_PKGS) $(TOOLS_PKGS) check 2>/dev/null || deploy/deps.sh --check
	$(call keep,echo '$(FLAGS)')
# Link again when a file was added or taken away.
$(B)/sources.stamp: FORCE
	$(call keep,echo '$(LIB_CXX) $(PROGRAM_SRC) $(UNIT_SRC) $(PROP_SRC)')
FORCE:

# Folder of the programs that write tables: a cross build takes those of the building machine.
TABLES_B ?= $(B)
# The catalog of units becomes a table of the library; what reads it is the library's own reader.
UNIT_TABLE_OBJ := $(filter $(B)/lib/base/%,$(LIB_OBJ)) \
                  $(addprefix $(B)/,$(addsuffix .o,lib/yaml/yaml lib/yaml/node lib/schema/units deploy/unit_table))
$(B)/unit-table: $(UNIT_TABLE_OBJ)
	$(call say,LD)
	$(Q)$(CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $^ $(LIB_LIBS)
$(B)/generated/units_built_in.inc: rules/units.yaml $(TABLES_B)/unit-table
	@mkdir -p $(@D)
	$(call say,GEN)
	$(Q)$(TABLES_B)/unit-table $< > $@.new && mv $@.new $@
$(B)/lib/schema/units_built_in.o: $(B)/generated/units_built_in.inc

# The files of the page in the browser become a table of the daemon.
PAGE_FILES := $(sort $(wildcard $(addprefix daemon/http/page/*.,html css js svg)))
$(B)/page-table: $(B)/deploy/page_table.o $(filter $(B)/lib/base/%,$(LIB_OBJ))
	$(call say,LD)
	$(Q)$(CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $^ $(LIB_LIBS)
$(B)/page.stamp: FORCE
	$(call keep,echo '$(PAGE_FILES)')
$(B)/generated/page_files.inc: $(PAGE_FILES) $(TABLES_B)/page-table $(B)/page.stamp
	@mkdir -p $(@D)
	$(call say,GEN)
	$(Q)$(TABLES_B)/page-table $(PAGE_FILES) > $@.new && mv $@.new $@
$(B)/daemon/http/static_files.o: $(B)/generated/page_files.inc

$(B)/libevenkeel.a: $(LIB_OBJ)
# Not installed. What is linked takes of them what it needs.
$(B)/libevenkeel-offline.a: $(OFFLINE_OBJ)
$(B)/commands.a: $(DAEMON_OBJ)
LIBRARIES := $(B)/libevenkeel-offline.a $(B)/libevenkeel.a
ARCHIVES  := $(B)/commands.a $(LIBRARIES)
$(ARCHIVES): $(B)/sources.stamp
	$(call say,AR)
	$(Q)rm -f $@ && $(AR) $(if $(MACOS),rcs,rcsD) $@ $(filter %.o,$^)

# Pages of the reference and JSON Schemas come from the tables of keys and of metrics.
REFERENCE_OBJ := $(addprefix $(B)/deploy/,key_pages.o key_schemas.o text_features_page.o)
REFERENCE_PAGES := config.md rules.md metrics.md text-features.md
$(B)/reference: $(B)/deploy/reference.o $(REFERENCE_OBJ) $(ARCHIVES)
	$(call say,LD)
	$(Q)$(CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $^ $(ALL_LIBS)
reference: $(B)/reference $(B)/evenkeel ## docs/config.md, rules.md, metrics.md, text-features.md, log-events.md, cli.md, http.md, c-api.md, units.md and alert-rules.md from their sources
	$(Q)for page in $(REFERENCE_PAGES); do $< $$page > docs/$$page || exit 1; done
	$(Q)$(PYTHON) deploy/log_events.py > docs/log-events.md
	$(Q)$(PYTHON) deploy/cli_page.py $(B)/evenkeel > docs/cli.md
	$(Q)$(PYTHON) deploy/http_page.py docs/openapi.json > docs/http.md
	$(Q)$(PYTHON) deploy/c_api_page.py lib/evenkeel.h > docs/c-api.md
	$(Q)$(PYTHON) deploy/units_page.py rules/units.yaml > docs/units.md
	$(Q)$(PYTHON) deploy/alert_rules_page.py deploy/prometheus/evenkeel.rules.yml > docs/alert-rules.md

SONAME := libevenkeel.so.$(firstword $(subst ., ,$(VERSION)))
$(B)/libevenkeel.so: $(LIB_OBJ) $(B)/sources.stamp deploy/evenkeel.map
	$(call say,LD)
	$(Q)$(CC) -shared -Wl,-soname,$(SONAME) -Wl,--version-script=deploy/evenkeel.map $(SAN_FLAGS) \
	  $(UNUSED) $(LDFLAGS) -o $@ $(LIB_OBJ) $(LIB_LIBS)

# ThreadSanitizer knows the threads of POSIX, librdkafka uses those of C11.
SEEN_THREADS := $(if $(findstring thread,$(SANITIZE)),$(B)/tests/c11_threads.o)

# The first executes the second for the commands that are there.
$(B)/evenkeel: $(B)/daemon/main.o $(SEEN_THREADS) $(ARCHIVES) | $(B)/evenkeel-tools
	$(call say,LD)
	$(Q)$(CC) $(SAN_FLAGS) $(UNUSED) $(LDFLAGS) -o $@ $^ $(DAEMON_LIBS) $(LIB_LIBS)
# Sanitizers keep sections that nothing refers to, and with them what those refer to.
$(B)/evenkeel-tools: $(B)/daemon/tools/main.o $(SEEN_THREADS) $(ARCHIVES)
	$(call say,LD)
	$(Q)$(CC) $(SAN_FLAGS) $(UNUSED) $(LDFLAGS) -o $@ $^ $(if $(SANITIZE),$(ALL_LIBS),$(TOOLS_LIBS) $(LIB_LIBS))

# Tests: suites are found by file name.
define suite_list
$(B)/tests/$(1)-suites.h: FORCE
	$$(call keep,printf 'SUITE(%s)\n' $(patsubst test_%.c,%,$(notdir $(2))))
$(B)/tests/$(1)-runner.o: tests/runner.c $(B)/tests/$(1)-suites.h $(B)/flags.stamp
	$$(Q)$(CC) $$(ALL_CFLAGS) $$(EXTRA) -DEK_SUITES='"$(B)/tests/$(1)-suites.h"' -c -o $$@ $$<
endef
$(eval $(call suite_list,unit,$(UNIT_SRC)))
$(eval $(call suite_list,prop,$(PROP_SRC)))

$(B)/tests/unit-tests: $(UNIT_OBJ) $(B)/tests/unit-runner.o $(REFERENCE_OBJ) $(SEEN_THREADS) $(ARCHIVES)
	$(call say,LD)
	$(Q)$(CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $^ $(CHECK_LIBS) $(ALL_LIBS)
$(B)/tests/prop-tests: $(PROP_OBJ) $(B)/tests/prop-runner.o $(LIBRARIES)
	$(call say,LD)
	$(Q)$(CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $^ $(CHECK_LIBS) $(LIB_LIBS)

check-unit: $(B)/tests/unit-tests ## unit tests
	@! said=$$(CK_RUN_SUITE=stagefleet $< 2>&1) && echo "$$said" | grep -q 'near: stage_fleet'
	@tests/run-suites.sh $<
check-prop: $(B)/tests/prop-tests ## property tests
	@AT_ONCE=$$(nproc) tests/run-suites.sh $<

include deploy/install.mk
include deploy/package.mk
include deploy/dist.mk
include deploy/wheel.mk
include deploy/java.mk
include deploy/site.mk

# Each folder of tests may bring a makefile part of its own with a target check-NAME.
TEST_BINARIES := $(B)/tests/unit-tests $(B)/tests/prop-tests
-include $(sort $(filter-out $(MAKEFILE_LIST),$(wildcard tests/*/*.mk)))
check-binaries: $(TEST_BINARIES)

# `make check` runs these, in this order, and then every other target check-NAME. Lanes, whose parts mostly wait
# or use one core, run in the background, and are printed at the end. Parts of different lanes build nothing that the
# other needs: what both need is a test binary.
FIRST_PARTS := gates selftest unit prop alloc cli formats fuzz install
LANES       := kafka,threads,package,docs page,wheel,caller,java,rankers,exchange,schemas,targets
FOUND_PARTS := $(shell sed -nE 's/^check-([a-z0-9]+):.*/\1/p' $(MAKEFILE_LIST) | sort -u)
# Those that take minutes are for a release.
NO_PARTS    := parts binaries reproducible anyranker
IN_LANES := $(subst $(comma), ,$(LANES))
PARTS := $(FIRST_PARTS) $(filter-out $(FIRST_PARTS) $(IN_LANES) $(NO_PARTS),$(FOUND_PARTS)) $(IN_LANES)
check-parts:
	@MAKE='$(MAKE)' LOGS=$(B)/check LANES='$(LANES)' sh tests/run-parts.sh $(PARTS)

compile-commands: ## compile_commands.json for editors and analysers
	@$(PYTHON) deploy/compile_commands.py compile_commands.json $(PROGRAM_SRC) $(UNIT_SRC) $(PROP_SRC) \
	  -- $(CC) $(ALL_CFLAGS)

clean: ## remove what was built
	rm -rf build compile_commands.json
help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 20

-include $(B)/deploy/unit_table.d $(B)/deploy/page_table.d $(B)/deploy/reference.d $(REFERENCE_OBJ:.o=.d) $(LIB_CXX:%.cc=$(B)/%.d) $(PROGRAM_SRC:%.c=$(B)/%.d) $(UNIT_OBJ:.o=.d) \
  $(PROP_OBJ:.o=.d)
.PHONY: all demo check reference deps deps-build deps-wheel deps-broker deps-watch deps-tests deps-lint check-unit check-prop check-binaries check-parts \
  compile-commands clean help FORCE

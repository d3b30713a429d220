# evenkeel. `make help` lists the targets.

VERSION := 0.1.0
PREFIX  ?= /usr/local
DESTDIR ?=

# Parts are found by folder, so a new file needs no line here.
LIB_SRC    := $(sort $(wildcard lib/*/*.c))
DAEMON_SRC := $(sort $(wildcard daemon/*.c))
UNIT_SRC   := $(sort $(wildcard tests/unit/test_*.c))
PROP_SRC   := $(sort $(wildcard tests/prop/test_*.c))
BENCH_SRC  := $(sort $(wildcard tests/bench/*.c))

# SANITIZE=address,undefined builds into a folder of its own.
SANITIZE ?=
comma := ,
B := build$(if $(SANITIZE),/$(subst $(comma),-,$(SANITIZE)))

# pkg-config runs only for goals that compile, after `make deps` had its chance.
PKG_CONFIG ?= pkg-config
MSGPACK := $(shell $(PKG_CONFIG) --exists msgpack-c 2>/dev/null && echo msgpack-c || echo msgpack)
LIB_PKGS    := $(MSGPACK) yaml-0.1 jansson libzstd zlib libxxhash
DAEMON_PKGS := rdkafka libmicrohttpd
CC      ?= cc
CFLAGS  ?= -O3 -g
WARN    := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla \
           -Wformat=2 -Wundef -Wpointer-arith -Wwrite-strings -Werror
# No fused multiply-add by the compiler's own choice: every instruction set must decide alike.
BASE_CFLAGS := -std=c11 -D_GNU_SOURCE -Ilib -I. -DEK_VERSION='"$(VERSION)"' -fPIC \
               -fno-math-errno -ffp-contract=off $(WARN)
SAN_FLAGS := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer -fno-sanitize-recover=all)
ALL_CFLAGS = $(CFLAGS) $(BASE_CFLAGS) $(SAN_FLAGS) $(shell $(PKG_CONFIG) --cflags $(LIB_PKGS) $(DAEMON_PKGS))
LIB_LIBS    = $(shell $(PKG_CONFIG) --libs $(LIB_PKGS)) -lm
DAEMON_LIBS = $(shell $(PKG_CONFIG) --libs $(DAEMON_PKGS)) -lpthread
CHECK_LIBS  = $(shell $(PKG_CONFIG) --libs check)

LIB_OBJ    := $(LIB_SRC:%.c=$(B)/%.o)
DAEMON_OBJ := $(DAEMON_SRC:%.c=$(B)/%.o)
UNIT_OBJ   := $(UNIT_SRC:%.c=$(B)/%.o)
PROP_OBJ   := $(PROP_SRC:%.c=$(B)/%.o)

.DEFAULT_GOAL := all
all: $(B)/evenkeel $(B)/libevenkeel.a $(B)/libevenkeel.so ## build the program and the library

# V=1 shows the commands.
Q := $(if $(V),,@)
say = $(if $(V),,@echo '  $(1) $@')

$(B)/%.o: %.c $(B)/flags.stamp
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(ALL_CFLAGS) $(EXTRA) -MMD -MP -c -o $@ $<
$(B)/tests/%.o: EXTRA := -Wno-missing-prototypes

# Rebuild everything when the flags change.
$(B)/flags.stamp: FORCE
	@mkdir -p $(B)
	@echo '$(CC) $(CFLAGS) $(BASE_CFLAGS) $(SAN_FLAGS)' | cmp -s - $@ || \
	  echo '$(CC) $(CFLAGS) $(BASE_CFLAGS) $(SAN_FLAGS)' > $@
FORCE:

$(B)/libevenkeel.a: $(LIB_OBJ)
	$(call say,AR)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(B)/libevenkeel.so: $(LIB_OBJ) deploy/evenkeel.map
	$(call say,LD)
	$(Q)$(CC) -shared -Wl,-soname,libevenkeel.so.0 -Wl,--version-script=deploy/evenkeel.map $(SAN_FLAGS) \
	  $(LDFLAGS) -o $@ $(LIB_OBJ) $(LIB_LIBS)

$(B)/evenkeel: $(DAEMON_OBJ) $(B)/libevenkeel.a
	$(call say,LD)
	$(Q)$(CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $(DAEMON_OBJ) $(B)/libevenkeel.a $(DAEMON_LIBS) $(LIB_LIBS)

# Tests: suites are found by file name.
define suite_list
$(B)/tests/$(1)-suites.h: $(2) Makefile
	@mkdir -p $$(@D)
	@printf 'SUITE(%s)\n' $(patsubst tests/$(1)/test_%.c,%,$(2)) > $$@
$(B)/tests/$(1)-runner.o: tests/runner.c $(B)/tests/$(1)-suites.h $(B)/flags.stamp
	$$(Q)$(CC) $$(ALL_CFLAGS) $$(EXTRA) -DEK_SUITES='"$(B)/tests/$(1)-suites.h"' -c -o $$@ $$<
endef
$(eval $(call suite_list,unit,$(UNIT_SRC)))
$(eval $(call suite_list,prop,$(PROP_SRC)))

# Everything of the daemon but its main can be tested too.
TESTED_DAEMON := $(filter-out $(B)/daemon/main.o,$(DAEMON_OBJ))
$(B)/tests/unit-tests: $(UNIT_OBJ) $(B)/tests/unit-runner.o $(TESTED_DAEMON) $(B)/libevenkeel.a
	$(call say,LD)
	$(Q)$(CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $^ $(CHECK_LIBS) $(DAEMON_LIBS) $(LIB_LIBS)
$(B)/tests/prop-tests: $(PROP_OBJ) $(B)/tests/prop-runner.o $(B)/libevenkeel.a
	$(call say,LD)
	$(Q)$(CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $^ $(CHECK_LIBS) $(LIB_LIBS)

check-unit: $(B)/tests/unit-tests ## unit tests
	$<
check-prop: $(B)/tests/prop-tests ## property tests
	$<

-include tests/bench/bench.mk

clean: ## remove what was built
	rm -rf build
help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 18

-include $(LIB_OBJ:.o=.d) $(DAEMON_OBJ:.o=.d) $(UNIT_OBJ:.o=.d) $(PROP_OBJ:.o=.d)
.PHONY: all check-unit check-prop clean help FORCE

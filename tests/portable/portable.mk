# make check-macos-compile, check-musl-compile: all sources of the programs compiled for another C library, without its
# machine. The compiler (Zig's clang) brings the C headers; those of the libraries are Debian's. Nothing is run.

ELSEWHERE := macos musl
ELSEWHERE_B := $(B)/elsewhere
ELSEWHERE_HEADERS := $(abspath $(ELSEWHERE_B))/include
TARGET_macos := aarch64-macos
CFLAGS_macos = $(MACOS_CFLAGS)
TARGET_musl  := x86_64-linux-musl
ELSEWHERE_OF = $(patsubst %,$(ELSEWHERE_B)/$(1)/%.o,$(basename $(PROGRAM_SRC) $(LIB_CXX)))
ZIG = ZIG_GLOBAL_CACHE_DIR=$(abspath $(ELSEWHERE_B))/cache ZIG_LOCAL_CACHE_DIR=$(abspath $(ELSEWHERE_B))/cache $(ELSEWHERE_B)/env/venv/bin/python -m ziglang

$(ELSEWHERE_B)/headers.stamp: tests/portable/headers.sh deploy/deps.sh tests/portable/requirements.txt
	@mkdir -p $(@D)
	$(Q)sh tests/python_env.sh $(ELSEWHERE_B)/env tests/portable/requirements.txt > /dev/null
	$(Q)sh tests/portable/headers.sh $(ELSEWHERE_HEADERS) && $(ZIG) version > /dev/null && touch $@

# Warnings are those of our own compiler: this one has others.
define compile_elsewhere
$(ELSEWHERE_B)/$(1)/%.o: %.c $(ELSEWHERE_B)/headers.stamp | $(B)/generated/units_built_in.inc $(B)/generated/page_files.inc
	@mkdir -p $$(@D)
	$$(call say,CC)
	$$(Q)$$(ZIG) cc -target $$(TARGET_$(1)) -O1 $$(filter-out -W%,$$(BASE_CFLAGS)) $$(CFLAGS_$(1)) -w -isystem $(ELSEWHERE_HEADERS) -MMD -MP -c -o $$@ $$<
$(ELSEWHERE_B)/$(1)/%.o: %.cc $(ELSEWHERE_B)/headers.stamp
	@mkdir -p $$(@D)
	$$(call say,CXX)
	$$(Q)$$(ZIG) c++ -target $$(TARGET_$(1)) -O1 $$(filter-out -W%,$$(BASE_CXXFLAGS)) -w -isystem $(ELSEWHERE_HEADERS) -MMD -MP -c -o $$@ $$<
$(ELSEWHERE_B)/$(1)/evenkeel $(ELSEWHERE_B)/$(1)/evenkeel-tools: $$(call ELSEWHERE_OF,$(1)) tests/portable/symbols.py
	$$(call say,LD)
	$$(Q)$$(PYTHON) tests/portable/symbols.py $$(ALL_LIBS) -- \
	  env $$(ZIG) c++ -target $$(TARGET_$(1)) -o $$@ $$(filter-out $$(if $$(filter %-tools,$$@),%/daemon/main.o,%/tools/main.o),$$(filter %.o,$$^)) && touch $$@
check-$(1)-compile: $(ELSEWHERE_B)/$(1)/evenkeel $(ELSEWHERE_B)/$(1)/evenkeel-tools ## all sources compiled for $(1) (not in `make check`)
	@echo '$$(words $$(call ELSEWHERE_OF,$(1))) files compiled for $$(TARGET_$(1))'
-include $$(patsubst %.o,%.d,$$(call ELSEWHERE_OF,$(1)))
.PHONY: check-$(1)-compile
endef
$(foreach system,$(ELSEWHERE),$(eval $(call compile_elsewhere,$(system))))

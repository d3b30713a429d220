# Allocation failures: tests/alloc/test_NAME.c, linked with wrapped allocation.
ALLOC_SRC := $(sort $(wildcard tests/alloc/test_*.c))
ALLOC_OBJ := $(ALLOC_SRC:%.c=$(B)/%.o) $(B)/tests/alloc/sweep.o $(B)/tests/alloc/scratch.o \
             $(B)/tests/alloc/new.o $(B)/tests/alloc/sites.o
WRAP_OURS := $(addprefix -Wl$(comma)--wrap=,ek_calloc ek_realloc ek_calloc_aligned ek_strndup ek_strdup)
WRAP := $(WRAP_OURS) $(addprefix -Wl$(comma)--wrap=,malloc calloc realloc aligned_alloc free)
$(eval $(call suite_list,alloc,$(ALLOC_SRC)))
$(B)/tests/alloc-tests: $(ALLOC_OBJ) $(B)/tests/alloc-runner.o $(ARCHIVES)
	$(call say,LD)
	$(Q)$(CC) $(SAN_FLAGS) $(WRAP) $(LDFLAGS) -o $@ $^ $(CHECK_LIBS) $(ALL_LIBS)

# Programs with failures at every allocation (whole.c). Sanitizers replace malloc, so they are not used.
WHOLE_OBJ := $(B)/tests/alloc/whole.o $(B)/tests/alloc/sites.o
FAILING := $(B)/tests/evenkeel-failing $(B)/tests/evenkeel-tools-failing
$(B)/tests/evenkeel-failing: $(B)/daemon/main.o
$(B)/tests/evenkeel-tools-failing: $(B)/daemon/tools/main.o
$(FAILING): $(WHOLE_OBJ) $(ARCHIVES)
	$(call say,LD)
	$(Q)$(CC) $(WRAP_OURS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(ARCHIVES) $(ALL_LIBS)

TEST_BINARIES += $(B)/tests/alloc-tests $(if $(SANITIZE),,$(FAILING))
check-alloc: $(B)/tests/alloc-tests $(if $(SANITIZE),,$(FAILING) $(B)/evenkeel) ## every allocation fails once
	@rm -f $(B)/tests/alloc.sites $(FAILING:=.sites)
ifneq ($(SANITIZE),)
	$<
else
	@EK_SITES=$(B)/tests/alloc.sites $< >$(B)/tests/alloc.log & parts=$$!; \
	EK=$(B)/evenkeel FAILING=$(B)/tests sh tests/alloc/commands.sh; \
	commands=$$?; wait $$parts; parts=$$?; cat $(B)/tests/alloc.log; [ $$commands$$parts = 00 ]
	@$(PYTHON) tests/alloc/reach.py tests/alloc/unswept.txt $(B)/tests/alloc.sites $(B)/tests/alloc-tests \
	  $(foreach program,$(FAILING),$(program).sites $(program))
endif
-include $(ALLOC_OBJ:.o=.d) $(WHOLE_OBJ:.o=.d)
.PHONY: check-alloc

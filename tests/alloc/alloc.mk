# Memory that runs out: tests/alloc/test_NAME.c, linked with wrapped allocation.
ALLOC_SRC := $(sort $(wildcard tests/alloc/test_*.c))
ALLOC_OBJ := $(ALLOC_SRC:%.c=$(B)/%.o) $(B)/tests/alloc/sweep.o $(B)/tests/alloc/scratch.o \
             $(B)/tests/alloc/new.o
WRAP := $(foreach f,malloc calloc realloc aligned_alloc free,-Wl,--wrap=$(f))
$(eval $(call suite_list,alloc,$(ALLOC_SRC)))
$(B)/tests/alloc-tests: $(ALLOC_OBJ) $(B)/tests/alloc-runner.o $(TEXT_OBJ) $(B)/libevenkeel.a
	$(call say,LD)
	$(Q)$(CC) $(SAN_FLAGS) $(WRAP) $(LDFLAGS) -o $@ $^ $(CHECK_LIBS) $(LIB_LIBS) $(DAEMON_LIBS)

TEST_BINARIES += $(B)/tests/alloc-tests
check-alloc: $(B)/tests/alloc-tests ## every allocation fails once
	$<
-include $(ALLOC_OBJ:.o=.d)
.PHONY: check-alloc

# Suites with threads, under ThreadSanitizer, in a separate build.
THREAD_SUITES := spsc_queue partition_offsets hold_queue txn_thread merged_consumer consumer stage stage_state stage_fleet \
                 reload stage_ranks schema_source
THREAD_SRC    := $(foreach suite,$(THREAD_SUITES),$(filter %/test_$(suite).c,$(UNIT_SRC)))
$(eval $(call suite_list,thread,$(THREAD_SRC)))

# Folders that these suites do not use are not compiled for them.
WITHOUT_THREADS := daemon/commands daemon/demo daemon/tools daemon/training lib/text lib/offline/scale lib/offline/select lib/offline/train
$(B)/tests/threads.a: $(filter-out $(WITHOUT_THREADS:%=$(B)/%/%),$(LIB_OBJ) $(OFFLINE_OBJ) $(DAEMON_OBJ))
	$(call say,AR)
	$(Q)rm -f $@ && $(AR) rcs $@ $^
$(B)/tests/thread-tests: $(THREAD_SRC:%.c=$(B)/%.o) $(B)/tests/thread-runner.o $(SEEN_THREADS) $(B)/tests/threads.a
	$(call say,LD)
	$(Q)$(CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $^ $(CHECK_LIBS) $(ALL_LIBS)

# librdkafka was not built for it. Its locks are visible (tests/c11_threads.c), its atomic reference
# counts are not: freeing a buffer that we have read is no race.
SEES := ignore_noninstrumented_modules=1:suppressions=$(abspath tests/unit/threads.supp)

check-threads: ## races between threads, with ThreadSanitizer
	@$(MAKE) --no-print-directory SANITIZE=thread build/thread/tests/thread-tests
	@AT_ONCE=3 TSAN_OPTIONS=halt_on_error=1:$(SEES) \
	  tests/run-suites.sh build/thread/tests/thread-tests
.PHONY: check-threads

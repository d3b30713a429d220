# Suites with threads, under ThreadSanitizer, in a separate build.
THREAD_SUITES := ring partitions gate txn tap input stage stage_state stage_fleet reload stage_ranks schema_source

# librdkafka was not built for it. Its locks are visible (tests/c11_threads.c), its atomic reference
# counts are not: freeing a buffer that we have read is no race.
SEES := ignore_noninstrumented_modules=1:suppressions=$(abspath tests/unit/threads.supp)

check-threads: ## races between threads, with ThreadSanitizer
	@$(MAKE) --no-print-directory SANITIZE=thread build/thread/tests/unit-tests
	@AT_ONCE=3 TSAN_OPTIONS=halt_on_error=1:$(SEES) \
	  tests/run-suites.sh build/thread/tests/unit-tests $(THREAD_SUITES)
.PHONY: check-threads

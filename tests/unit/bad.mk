# Files written by hand with errors, under sanitizers: the suites that parse them, and the program
# on every bad file.
BAD_SUITES := bad config manifest rules rules_keys schema unit_match

$(B)/tests/bad-suites.h: FORCE
	$(call keep,printf 'SUITE(%s)\n' $(BAD_SUITES))
$(B)/tests/bad-runner.o: tests/runner.c $(B)/tests/bad-suites.h $(B)/flags.stamp
	$(Q)$(CC) $(ALL_CFLAGS) $(EXTRA) -DEK_SUITES='"$(B)/tests/bad-suites.h"' -c -o $@ $<
$(B)/tests/bad-tests: $(filter $(BAD_SUITES:%=\%/test_%.o),$(UNIT_OBJ)) $(B)/tests/bad-runner.o $(REFERENCE_OBJ) $(ARCHIVES)
	$(call say,LD)
	$(Q)$(CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $^ $(CHECK_LIBS) $(ALL_LIBS)

bad-replay: $(B)/tests/bad-tests $(B)/evenkeel
	@UBSAN_OPTIONS=print_stacktrace=1 $(B)/tests/bad-tests
	@UBSAN_OPTIONS=print_stacktrace=1 sh tests/bad/run.sh $(B)/evenkeel
check-bad: ## bad rules, manifests, configurations and units, with sanitizers
	@$(MAKE) --no-print-directory SANITIZE=address,undefined bad-replay
.PHONY: bad-replay check-bad

# Soak test: tests/soak/soak.py runs a fleet of two for HOURS with injected failures, and reports into build/soak.
HOURS ?= 2
SOAK_CLOCK := $(B)/tests/soak/clock.so
$(SOAK_CLOCK): tests/soak/clock.c $(B)/flags.stamp
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) $(BASE_CFLAGS) -Wno-missing-prototypes -shared -o $@ $< -ldl
TEST_BINARIES += $(SOAK_CLOCK)

soak: $(KAFKA_NEEDS) $(SOAK_CLOCK) ## HOURS of traffic with faults, rebalances, crashes, reloads, dead sinks, clock jumps; a report in build/soak
	@SOAK_CLOCK=$(abspath $(SOAK_CLOCK)) $(KAFKA) tests/soak/soak.py --hours $(HOURS) --report build/soak
check-soak: ## that the report of the long hours sees what is wrong
	@$(PYTHON) tests/soak/test_report.py
.PHONY: soak check-soak

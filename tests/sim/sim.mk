# Simulation of a fleet of 100 instances with a virtual clock, and sizes of its records.
SIM_BINARIES := $(B)/tests/sim/fleet $(B)/tests/sim/ticks
$(SIM_BINARIES): %: %.o $(LIBRARIES)
	$(call say,LD)
	$(Q)$(CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $^ -lpthread $(LIB_LIBS)
TEST_BINARIES += $(SIM_BINARIES)

check-sim: $(SIM_BINARIES) ## 100 instances and 1,000 partitions under a virtual clock agree
	@$(PYTHON) -B tests/sim/scaling.py $(B)
scaling: $(SIM_BINARIES) $(B)/tests/prop-tests ## the tables of docs/scaling.md
	@$(PYTHON) -B tests/sim/scaling.py $(B) docs/scaling.md
-include $(SIM_BINARIES:=.d)
.PHONY: check-sim scaling

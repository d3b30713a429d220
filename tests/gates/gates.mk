# The compiler's pedantry about unused things is for sources, not for a header alone.
GATE_ENV = CC='$(CC)' CXX='$(CXX)' GATE_CFLAGS='$(ALL_CFLAGS)' MAKE='$(MAKE)'

check-gates: all check-binaries ## rules about the source: layers, registered tests, headers, symbols, ...
	@$(GATE_ENV) $(PYTHON) tests/gates/run.py --build $(B)
gate-selftest: all check-binaries ## each gate catches a planted fault
	@$(GATE_ENV) $(PYTHON) tests/gates/run.py --build $(B) --selftest
.PHONY: check-gates gate-selftest

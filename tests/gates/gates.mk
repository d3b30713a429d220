# The compiler's pedantry about unused things is for sources, not for a header alone.
GATE_ENV = CC='$(CC)' CXX='$(CXX)' GATE_CFLAGS='$(ALL_CFLAGS)' MAKE='$(MAKE)'

check-gates: all check-binaries ## rules about the source: layers, registered tests, headers, symbols, ...
	@$(GATE_ENV) $(PYTHON) tests/gates/run.py --build $(B)
gate-selftest: all check-binaries ## plant a fault for each gate and see it caught
	@$(GATE_ENV) $(PYTHON) tests/gates/run.py --build $(B) --selftest
check-selftest: gate-selftest
house: all ## figures of the source tree: lines, modules, folders, exports, functions
	@$(PYTHON) tests/gates/house.py --build $(B)
.PHONY: house check-gates check-selftest gate-selftest

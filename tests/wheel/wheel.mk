# The Python package: built, installed into an environment with NumPy alone, and tested there; with data frames and
# LightGBM in another one.

check-wheel: $(B)/evenkeel $(LIBRARIES) deps-wheel ## the Python package, against the program, with data frames and LightGBM
	@if $(WHEEL_ENV_PYTHON) && "$$python" -c 'import nanobind, scikit_build_core'; then \
	  $(MAKE) --no-print-directory $(B)/wheel.stamp && WHEEL_PYTHON=$(WHEEL_PYTHON) sh tests/wheel/run.sh $(B) $(WHEEL_ENV); \
	else echo 'skipped: the wheel: the Python index gave no nanobind'; echo '0 passed, 0 failed, 1 skipped'; fi

# Random calls (CALLS=6000) of the package, whose extension has sanitizers. They are loaded before the interpreter.
preloaded = $(shell $(CC) -print-file-name=lib$(1).so)
check-caller: deps-wheel ## random calls of the Python package, with sanitizers (CALLS=1000000, FIRST=: a round)
	@if $(WHEEL_ENV_PYTHON) && "$$python" -c 'import nanobind, scikit_build_core'; then \
	  $(MAKE) --no-print-directory SANITIZE=address,undefined WHEEL_ENV=$(WHEEL_ENV) caller; \
	else echo 'skipped: the wheel: the Python index gave no nanobind'; echo '0 passed, 0 failed, 1 skipped'; fi
caller: $(B)/wheel.stamp
	@python=$$(SYSTEM_PYTHON=$(WHEEL_PYTHON) sh tests/python_env.sh $(WHEEL_ENV)/caller tests/wheel/requirements.txt) && \
	  rm -rf $(B)/wheel-site && "$$python" -m zipfile -e $(B)/wheel/*.whl $(B)/wheel-site && \
	  LD_PRELOAD='$(call preloaded,asan) $(call preloaded,stdc++)' ASAN_OPTIONS=malloc_context_size=8 UBSAN_OPTIONS=print_stacktrace=1 \
	  LSAN_OPTIONS=suppressions=tests/wheel/caller/leaks.txt:print_suppressions=0 PYTHONMALLOC=malloc \
	  PYTHONPATH=$(abspath $(B)/wheel-site) CALLS=$(CALLS) FIRST=$(FIRST) "$$python" -B tests/exchange/run.py $(B) tests/wheel/caller

notebooks: check-wheel ## docs/notebooks, executed, with their outputs
	@BUILD=$(B) $(WHEEL_ENV)/frames/bin/python -B tests/wheel/notebooks.py
TIME_OBSERVE := $(B)/tests/wheel/time_observe
$(TIME_OBSERVE): $(TIME_OBSERVE).o $(LIBRARIES)
	$(call say,LD)
	$(Q)$(CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $^ $(LIB_LIBS)
bench-wheel: check-wheel $(TIME_OBSERVE) ## cost of the Python package, compared with a loop in C
	@$(WHEEL_ENV)/bare/bin/python -B tests/wheel/time_observe.py $(B)
bench-libraries: $(B)/evenkeel $(B)/wheel.stamp ## drift libraries of Python on the same frames, a table (SEEDS=5)
	@python=$$(SYSTEM_PYTHON=$(WHEEL_PYTHON) sh tests/python_env.sh $(WHEEL_ENV)/peers tests/wheel/requirements-peers.txt) && \
	  "$$python" -m pip install -q --disable-pip-version-check --no-index --no-deps --force-reinstall $(B)/wheel/*.whl && \
	  BUILD=$(B) "$$python" -B tests/wheel/time_libraries.py $(SEEDS)
TEST_BINARIES += $(TIME_OBSERVE)
-include $(TIME_OBSERVE).d
.PHONY: check-wheel check-caller caller bench-wheel bench-libraries notebooks

# Static analysis. What is quick is a part of `make check`; `make analyze` takes long at first (JOBS=N: so many files at
# a time); it can be stopped and started again, and later looks only at what has changed.
ANALYZED := $(PROGRAM_SRC)
ANALYZE   = $(PYTHON) tests/analyze/run.py
# Warnings are the compiler's business; clang does not know all of gcc's.
ANALYZE_FLAGS = $(filter-out -W%,$(BASE_CFLAGS)) $(PKG_CFLAGS)

check-analyze: $(B)/generated/units_built_in.inc $(B)/generated/page_files.inc ## what cppcheck finds; `make analyze` takes more tools
	@$(ANALYZE) cppcheck -- $(ANALYZED) -- $(ANALYZE_FLAGS)
analyze: $(B)/generated/units_built_in.inc $(B)/generated/page_files.inc ## gcc -fanalyzer, clang-tidy, cppcheck: most of an hour at first
	@deploy/deps.sh analyze
	@KEEP=$(B)/analyze $(ANALYZE) gcc clang-tidy cppcheck -- $(ANALYZED) -- $(ANALYZE_FLAGS)
.PHONY: check-analyze analyze

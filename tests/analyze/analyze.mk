# Static analysis. Its fast part belongs to `make check`. The first `make analyze` takes long (JOBS=N: parallel files);
# it can be interrupted, and later runs analyze only changed files.
ANALYZED := $(PROGRAM_SRC)
ANALYZE   = $(PYTHON) tests/analyze/run.py
# Warnings are left to the compiler; clang does not know all warnings of gcc.
ANALYZE_FLAGS = $(filter-out -W%,$(BASE_CFLAGS)) $(PKG_CFLAGS)

check-analyze: $(B)/generated/units_built_in.inc $(B)/generated/page_files.inc ## what cppcheck finds; `make analyze` takes more tools
	@$(ANALYZE) cppcheck -- $(ANALYZED) -- $(ANALYZE_FLAGS)
analyze: $(B)/generated/units_built_in.inc $(B)/generated/page_files.inc ## gcc -fanalyzer, clang-tidy, cppcheck: most of an hour at first
	@deploy/deps.sh analyze
	@KEEP=$(B)/analyze $(ANALYZE) gcc clang-tidy cppcheck -- $(ANALYZED) -- $(ANALYZE_FLAGS)
.PHONY: check-analyze analyze

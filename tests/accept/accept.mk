check-targets: all ## train on the published sets and hold the quality against their targets (needs EK_DATA)
	@$(PYTHON) tests/accept/targets.py --program $(B)/evenkeel
accept: all ## the same for every fault and remedy of the targets
	@$(PYTHON) tests/accept/targets.py --program $(B)/evenkeel --all
.PHONY: check-targets accept

# Tables of docs/dev/results.md; WRITE=docs/dev/results.md inserts them there.
RESULTS = $(PYTHON) tests/accept/results.py --program $(B)/evenkeel --keep $(B)/accept $(if $(WRITE),--write $(WRITE))
results: all ## all tables of docs/dev/results.md (needs EK_DATA); results-hotel and so on make one
	@$(RESULTS) all
results-%: all
	@$(RESULTS) $*
.PHONY: results

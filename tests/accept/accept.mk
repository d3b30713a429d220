check-targets: all ## train on the published sets and hold the quality against their targets (needs EK_DATA)
	@$(PYTHON) tests/accept/targets.py --program $(B)/evenkeel
.PHONY: check-targets

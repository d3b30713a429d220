check-targets: all ## train on the published sets and hold the quality against their targets (needs EK_DATA)
	@$(PYTHON) tests/accept/targets.py --program $(B)/evenkeel
check-orders: all ## replay the published sets in random orders, without a finding (needs EK_DATA)
	@$(PYTHON) tests/accept/orders.py --program $(B)/evenkeel
accept: all ## the same for every fault and remedy of the targets, and more orders
	@$(PYTHON) tests/accept/targets.py --program $(B)/evenkeel --all
	@$(PYTHON) tests/accept/orders.py --program $(B)/evenkeel --orders 10
.PHONY: check-targets check-orders accept

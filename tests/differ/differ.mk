# Random runs of the program compared with NumPy, the Python reference (EK_REFERENCE), and itself in pieces.
DIFFER = $(PYTHON) -B tests/differ/run.py --build $(B)
check-differ: $(B)/evenkeel $(B)/libevenkeel.so ## some random runs against other programs that say the same
	@$(DIFFER) --seed 1 --runs 3
differ: $(B)/evenkeel $(B)/libevenkeel.so ## fresh ones: SEED=, RUNS= of each case, ONLY=CASE, FIRST=, KEEP=FOLDER
	@$(DIFFER) $(if $(SEED),--seed $(SEED)) --runs $(or $(RUNS),200) $(if $(ONLY),--only $(ONLY)) $(if $(FIRST),--first $(FIRST)) \
	  $(if $(KEEP),--keep $(KEEP))
.PHONY: check-differ differ

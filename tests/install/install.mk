check-install: all ## install, then use it from C and C++ as a stranger would
	@MAKE='$(MAKE) SANITIZE=' CC='$(CC)' CXX='$(CXX)' sh tests/install/run.sh
.PHONY: check-install

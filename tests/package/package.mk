check-package: all $(B)/man.stamp ## packages, units, images and manifests, as far as they can be tried on one machine
	@MAKE='$(MAKE) SANITIZE=' PYTHON='$(PYTHON)' B='$(B)' sh tests/package/run.sh
.PHONY: check-package

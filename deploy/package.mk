# make deb: Debian packages of what is built, into build/deb.

DEB     := $(B)/deb
DEB_TREE = $(DEB)/tree
# The newest entry of the packaging's changelog; its upstream part is VERSION, which a test holds.
DEB_MULTIARCH = $(shell dpkg-architecture -qDEB_HOST_MULTIARCH)

# With what it is made: versions and licences, read from the binaries and the machine that built them.
$(B)/evenkeel.spdx.json: $(B)/evenkeel $(B)/evenkeel-tools $(B)/libevenkeel.so deploy/sbom.py deploy/debian/changelog
	$(call say,GEN)
	$(Q)$(PYTHON) deploy/sbom.py $(VERSION) $(B)/evenkeel $(B)/evenkeel-tools $(B)/libevenkeel.so > $@.new && mv $@.new $@
sbom: $(B)/evenkeel.spdx.json ## what it is made with, as an SBOM (SPDX), into build/evenkeel.spdx.json

# Packages take what is built and tested here, from a tree of their own, so that nothing is left among the sources.
deb: all $(B)/evenkeel.spdx.json ## Debian packages, into build/deb
	@deploy/deps.sh deb
	$(Q)rm -rf $(DEB) && mkdir -p $(DEB_TREE) $(DEB)/root
	$(Q)$(MAKE) --no-print-directory install DESTDIR=$(CURDIR)/$(DEB)/root PREFIX=/usr \
	  LIBDIR=/usr/lib/$(DEB_MULTIARCH) > $(DEB)/install.log
	$(Q)cp -r deploy/debian $(DEB_TREE)/debian && cp $(B)/evenkeel.spdx.json $(DEB_TREE)/ && \
	  tar -c --exclude=__pycache__ README.md CHANGELOG.md docs | tar -x -C $(DEB_TREE) && \
	  mkdir $(DEB_TREE)/deploy && cp -r deploy/etc $(DEB_TREE)/deploy/ && \
	  cp deploy/systemd/evenkeel@.service $(DEB_TREE)/debian/
	$(Q)cd $(DEB_TREE) && EK_ROOT=$(CURDIR)/$(DEB)/root dpkg-buildpackage -b -us -uc -d > ../build.log 2>&1 || \
	  { tail -n 30 ../build.log; exit 1; }
	@ls $(DEB)/*.deb
.PHONY: deb sbom

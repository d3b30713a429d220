# make install, make uninstall: where everything goes.

INSTALL ?= install
LIBDIR  ?= $(PREFIX)/lib
DEST     = $(DESTDIR)$(PREFIX)
LIB_DEST = $(DESTDIR)$(LIBDIR)
# Where systemd looks for units besides its own folders.
UNITS    = $(DEST)/lib/systemd/system
LIB_REAL := libevenkeel.so.$(VERSION)
SHARED_RULES := $(sort $(wildcard rules/*.yaml))
HELP_TOOLS := deploy/help_text.py
MAN_TABLES := evenkeel.yaml=docs/config.md:'configuration of evenkeel run' \
              evenkeel-rules=docs/rules.md:'what evenkeel watches, and what it does about findings'

$(B)/man.stamp: $(B)/evenkeel $(B)/evenkeel-tools deploy/man.py deploy/man_tables.py deploy/roff.py \
             deploy/debian/changelog docs/config.md docs/rules.md $(HELP_TOOLS)
	$(Q)rm -rf $(B)/man && $(PYTHON) deploy/man.py $(B)/evenkeel $(VERSION) $(B)/man && \
	  $(PYTHON) deploy/man_tables.py $(VERSION) $(B)/man $(MAN_TABLES) && touch $@
$(B)/completions.stamp: $(B)/evenkeel $(B)/evenkeel-tools $(B)/schema.stamp deploy/completions.py $(HELP_TOOLS)
	$(Q)$(PYTHON) deploy/completions.py $(B)/evenkeel $(B)/schema/rules.schema.json $(B)/completions && touch $@
man: $(B)/man.stamp ## man pages from the programs' own help, into build/man

SCHEMAS := config rules
$(B)/schema.stamp: $(B)/reference
	$(Q)mkdir -p $(B)/schema && for kind in $(SCHEMAS); do \
	  $(B)/reference $$kind.schema.json > $(B)/schema/$$kind.schema.json || exit 1; done && touch $@

# Prefix and version may differ from call to call.
$(B)/evenkeel.pc: deploy/evenkeel.pc.in FORCE
	$(Q)sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@VERSION@|$(VERSION)|' -e 's|@REQUIRES@|$(LIB_PKGS)|' $< > $@

install: all $(B)/man.stamp $(B)/completions.stamp $(B)/schema.stamp $(B)/evenkeel.pc ## to $(DESTDIR)$(PREFIX)
	$(INSTALL) -d $(DEST)/bin $(LIB_DEST)/pkgconfig $(DEST)/include $(DEST)/share/man/man1 $(DEST)/share/man/man5 $(UNITS) \
	  $(DEST)/share/bash-completion/completions $(DEST)/share/zsh/site-functions
	$(INSTALL) -m 755 $(B)/evenkeel $(B)/evenkeel-tools $(DEST)/bin/
	$(INSTALL) -m 644 $(B)/libevenkeel.a $(LIB_DEST)/
	$(if $(SHARED),$(INSTALL) -m 755 $(B)/libevenkeel.so $(LIB_DEST)/$(LIB_REAL))
	$(if $(SHARED),ln -sf $(LIB_REAL) $(LIB_DEST)/$(SONAME))
	$(if $(SHARED),ln -sf $(SONAME) $(LIB_DEST)/libevenkeel.so)
	$(INSTALL) -m 644 lib/evenkeel.h $(DEST)/include/
	$(INSTALL) -m 644 $(B)/evenkeel.pc $(LIB_DEST)/pkgconfig/
	$(INSTALL) -m 644 $(B)/man/*.1 $(DEST)/share/man/man1/
	$(INSTALL) -m 644 $(B)/man/*.5 $(DEST)/share/man/man5/
	sed -e 's|/usr/bin/evenkeel|$(PREFIX)/bin/evenkeel|' deploy/systemd/evenkeel@.service > $(UNITS)/evenkeel@.service
	chmod 644 $(UNITS)/evenkeel@.service
	$(INSTALL) -m 644 $(B)/completions/evenkeel $(DEST)/share/bash-completion/completions/
	$(INSTALL) -m 644 $(B)/completions/_evenkeel $(DEST)/share/zsh/site-functions/
	$(INSTALL) -d $(DEST)/share/evenkeel/schema
	$(INSTALL) -m 644 $(B)/schema/*.schema.json $(DEST)/share/evenkeel/schema/
	$(INSTALL) -d $(DEST)/share/evenkeel/prometheus $(DEST)/share/evenkeel/grafana
	$(INSTALL) -m 644 deploy/prometheus/evenkeel.rules.yml $(DEST)/share/evenkeel/prometheus/
	$(INSTALL) -m 644 deploy/grafana/evenkeel.json deploy/grafana/evenkeel-internals.json $(DEST)/share/evenkeel/grafana/
	$(if $(SHARED_RULES),$(INSTALL) -d $(DEST)/share/evenkeel/rules)
	$(if $(SHARED_RULES),$(INSTALL) -m 644 $(SHARED_RULES) $(DEST)/share/evenkeel/rules/)

uninstall: ## takes away what install put there
	rm -f $(DEST)/bin/evenkeel $(DEST)/bin/evenkeel-tools $(DEST)/include/evenkeel.h $(LIB_DEST)/pkgconfig/evenkeel.pc
	rm -f $(LIB_DEST)/libevenkeel.a $(LIB_DEST)/libevenkeel.so $(LIB_DEST)/$(SONAME) $(LIB_DEST)/$(LIB_REAL)
	rm -f $(DEST)/share/man/man1/evenkeel.1 $(DEST)/share/man/man1/evenkeel-*.1
	rm -f $(DEST)/share/man/man5/evenkeel.yaml.5 $(DEST)/share/man/man5/evenkeel-rules.5 $(UNITS)/evenkeel@.service
	rm -f $(DEST)/share/bash-completion/completions/evenkeel $(DEST)/share/zsh/site-functions/_evenkeel
	rm -rf $(DEST)/share/evenkeel
.PHONY: install uninstall man

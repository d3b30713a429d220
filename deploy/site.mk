# make docs-site: the documentation as web pages, in build/site. Links without a target fail it.

SITE_ENV := sh tests/python_env.sh $(B)/site-env deploy/site/requirements.txt
docs-site: ## the documentation as web pages, into build/site (Sphinx from the Python index)
	$(Q)python=$$($(SITE_ENV)) && VERSION=$(VERSION) $$python -m sphinx -q -n -W --keep-going -b html -c deploy/site \
	  -E -d $(B)/site-doctrees docs $(B)/site && echo '  $(B)/site/index.html'
.PHONY: docs-site

# The jar of the guard: its classes, and its example on a broker.

check-java: $(KAFKA_NEEDS) ## the guard in Java, against the program, on a real broker
	@if [ -n '$(JDK)' ]; then \
	  $(MAKE) --no-print-directory $(JAR) && \
	  JAVA=$(JDK)/bin/java JAR=$(abspath $(JAR)) $(KAFKA) -B tests/exchange/run.py $(B) tests/java; \
	else echo 'skipped: Java: no JDK 22 or later (JAVA_HOME)'; echo '0 passed, 0 failed, 1 skipped'; fi
.PHONY: check-java

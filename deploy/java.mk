# make java: a jar with the classes of java/evenkeel and the C library, into build/java.

# A JDK 22 or later, empty if there is none.
JDK      = $(call once,JDK,$(shell java/jdk.sh))
JAVA_SRC := $(sort $(wildcard java/evenkeel/*.java))
JAR      := $(B)/java/evenkeel.jar
JAR_TREE := $(B)/java/jar
# Folder of the library in the jar; Native.java looks there.
JAR_NATIVE := $(JAR_TREE)/native/$(shell uname -m)

$(JAR): $(LIB_OBJ) $(JAVA_SRC) LICENSE deploy/java.mk deploy/evenkeel.map
	$(Q)[ -n '$(JDK)' ] || { echo 'java: needs a JDK 22 or later; set JAVA_HOME to its folder' >&2; exit 1; }
	$(call say,JAVAC)
	$(Q)rm -rf $(JAR_TREE) && mkdir -p $(JAR_NATIVE) $(JAR_TREE)/META-INF/licenses
	$(Q)$(call copy_licenses,$(JAR_TREE)/META-INF/licenses) && $(call copy_shared,$(JAR_NATIVE))
	$(Q)$(CC) -shared -Wl,-soname,libevenkeel.so -Wl,--version-script=deploy/evenkeel.map -Wl,-rpath,'$$ORIGIN' \
	  $(UNUSED) -Wl,--strip-debug $(LDFLAGS) -o $(JAR_NATIVE)/libevenkeel.so $(LIB_OBJ) $(WHEEL_LIBS)
	$(Q)(cd $(JAR_NATIVE) && ls > ../names && mv ../names names)
	$(Q)$(JDK)/bin/javac --release 22 -Xlint:all -Werror -d $(JAR_TREE) $(JAVA_SRC)
	$(Q)$(JDK)/bin/jar --create --file $@ --date "$$(date -u -d @$(DIST_EPOCH) +%Y-%m-%dT%H:%M:%SZ)" -C $(JAR_TREE) .
java: $(JAR) ## a jar of the guard for Java 22 or later, into build/java
	@ls -l $(JAR)
.PHONY: java

#!/bin/sh
# Run benchmarks by name, several times: run.sh BUILD RUNS [NAME...]; without names, all.
# The medians of the runs replace the lines of these benchmarks in BUILD/bench.jsonl. A benchmark with missing tools is
# reported and skipped. BENCH_WORDS has more arguments for the benchmarks in Python.
set -eu
build=$1 runs=$2
shift 2
here=$(dirname "$0")
top=$(cd "$here/../.." && pwd)
others="onnx train peers check extract kafka abuse stages scale perf"
[ $# -gt 0 ] || set -- all

python_with() { # name, modules: prints an interpreter that has them, or reports the missing ones
	python=$(B=$build sh "$top/tests/exchange/python.sh")
	name=$1
	shift
	if "$python" -c 'import sys, importlib.util as i; sys.exit(any(not i.find_spec(n) for n in sys.argv[1:]))' "$@"; then
		echo "$python"
	else
		echo "$name: skipped, Python lacks some of $*" >&2
	fi
}

run_onnx() {
	python=$(python_with onnx onnxruntime numpy yaml)
	[ -z "$python" ] || "$python" -B "$here/peers/onnx.py" "$build" "$1"
}

run_train() {
	if [ ! -d "${EK_DATA:-}/hotel" ] || [ ! -e "${EK_REFERENCE:-}/routable_sir.py" ]; then
		echo "train: skipped, EK_DATA and EK_REFERENCE do not name the hotel set and the reference"
		return 0
	fi
	python=$(python_with train torch numpy yaml zstandard)
	[ -z "$python" ] || "$python" -B "$here/peers/train.py" "$build" "$1"
}

run_peers() {
	# shellcheck disable=SC2086 # a list of words
	python3 -B "$here/peers/sketches.py" "$build" "$1" ${BENCH_WORDS:-}
}

run_check() {
	# shellcheck disable=SC2086 # a list of words
	python3 -B "$here/peers/check.py" "$build" "$1" ${BENCH_WORDS:-}
}

run_extract() {
	# shellcheck disable=SC2086 # a list of words
	python3 -B "$here/peers/extract.py" "$build" "$1" ${BENCH_WORDS:-}
}

# The broker of tests/kafka; missing jars are downloaded.
has_broker() { # name
	for program in java mvn; do
		command -v $program >/dev/null 2>&1 || {
			echo "$1: skipped, no $program (deploy/deps.sh broker)"
			return 1
		}
	done
	${MAKE:-make} -s -C "$top" build/kafka/libs.stamp || {
		echo "$1: skipped, the jars of Apache Kafka could not be had"
		return 1
	}
	export KAFKA_LIBS="$top/build/kafka/libs" EKTOOL="$build/tests/kafka/ektool" EVENKEEL="$build/evenkeel"
}

on_broker() { # name, program, results
	has_broker "$1" || return 0
	# shellcheck disable=SC2086 # a list of words
	python3 -B "$here/kafka/$2.py" "$build" "$3" ${BENCH_WORDS:-}
}
run_kafka() { on_broker kafka run "$1"; }
run_abuse() { on_broker abuse abuse "$1"; }
run_stages() { on_broker stages stages "$1"; }
run_scale() { on_broker scale scale "$1"; }
run_perf() { on_broker perf profile "$1"; }

run_named() { # results, name
	case " $others " in
	*" $2 "*) "run_$2" "$1" ;;
	*) "$build/bench" --out "$1" "$2" ;;
	esac
}

# A failed benchmark does not stop the others.
run_all() { # results
	"$build/bench" --out "$1" || failed="$failed linked"
	for other in $others; do
		"run_$other" "$1" || failed="$failed $other"
	done
}

i=1 files= failed=
while [ "$i" -le "$runs" ]; do
	results=$build/bench-$i.jsonl
	rm -f "$results"
	[ "$runs" = 1 ] || echo "run $i of $runs"
	python3 -B "$here/idle.py" >>"$results"
	for name in "$@"; do
		if [ "$name" = all ]; then run_all "$results"; else run_named "$results" "$name" || failed="$failed $name"; fi
	done
	[ ! -e "$results" ] || files="$files $results"
	i=$((i + 1))
done
# shellcheck disable=SC2086 # a list of files
python3 -B "$here/median.py" "$build/bench.jsonl" $files
[ -z "$failed" ] || {
	echo "bench: failed:$failed" >&2
	exit 1
}

#!/usr/bin/env python3
"""Comparison of `evenkeel run` with a plain librdkafka forwarder on a real broker: kafka/run.py BUILD RESULTS
[--messages N] [--rounds N]

Throughput: forwarder and `run` take turns to read a topic of lists (20 items, 136 features) from the start into an
empty topic. The rate is that of the output between 30% and 95% of the messages. Latency: a producer sends at half of
the maximum rate of producer, stage and consumer together, with the send time in the key; a consumer reads the output.
"""
import statistics

import place as at
from place import Place, Stage, latency, throughput

from record import Bench, words

FORWARDER, QUICK = "librdkafka forwarder, same settings", "librdkafka forwarder, free to reorder"
FLAT_OUT = 1000000  # messages/s, above any rate here
DENSE = 30000  # lists per second of event time
AUTO = {"rules": "dense.yaml", "more": "pipeline: {observe: auto}\n"}
UNSAFE = "enable.idempotence: \"false\", acks: all, linger.ms: \"1\", max.in.flight.requests.per.connection: \"1000000\""
UNITS = (("messages/s", ""), ("us/message", ", processor time of the client"), ("broker", ", processor time of the broker"))


class Run:
    def __init__(self, place, build, args):
        self.place, self.args = place, args
        run = at.run_of(build)
        forward = [place.tool("forwarder"), "{config}"]
        self.contenders = {None: (run, ""), FORWARDER: (forward, ""), QUICK: (forward, UNSAFE)}
        self.bench = Bench("kafka", args.results)

    def once(self, name, source, cores, **settings):
        """Run one pass over the topic; for this project also return the fractions of routed lists and of lists that are
        no evidence. `settings`: of Place.config."""
        command, producer = self.contenders[name]
        target, n = self.place.topic(), self.args.messages
        with Stage(self.place, command, source, target, producer, cores, **settings) as stage:
            found = throughput(self.place, stage, n * 3 // 10, n * 95 // 100)
            if name is None:
                status = stage.status()
                found["routed"] = 100 * status["routed"] / (status["routed"] + status["forwarded"])
                found["unobserved"] = 100 * status["unobserved_lists"] / status["observed_lists"]
        self.place.delete(target)
        return found

    def warm(self, source):
        """Warm up: a fresh broker is slower per message at first, for every contender."""
        for name in self.contenders:
            self.once(name, source, None)

    def turns(self, source, cores, settings):
        """Return [{contender: results} per round]; the starting contender rotates."""
        names, rounds = list(self.contenders), []
        for i in range(self.args.rounds):
            order = names[i % len(names):] + names[:i % len(names)]
            rounds.append({name: self.once(name, source, cores, **settings) for name in order})
        return rounds

    def case(self, title, source, cores=None, **settings):
        rounds = self.turns(source, cores, settings)
        for key, what in UNITS:
            unit = "messages/s" if key == "messages/s" else "us/message"
            self.bench.rounds(title + what, unit, [r[None][key] for r in rounds],
                              {name: [r[name][key] for r in rounds] for name in (FORWARDER, QUICK)})
        for key in ("routed", "unobserved"):
            self.bench.line(f"{title}, lists that were {key}", "%", statistics.median(r[None][key] for r in rounds), None,
                            None)

    def throughput_cases(self):
        n, warm = self.args.messages, False
        for encoding, spelt in (("bin", "bin"), ("array", "float32 array")):
            for faulty, what in ((None, "nothing routed"), (n // 10, "5 features routed")):
                source = self.place.stream(n, encoding, faulty)
                title = f"136 features, 20 items, {spelt}, {what}"
                if not warm:
                    self.warm(source)
                    warm = True
                self.case(title, source)
                self.apart(title, source) if encoding == "bin" else None
                self.place.delete(source)

    def dense_cases(self):
        """Dense traffic, of which a sample of the lists is observed."""
        n = self.args.messages
        for faulty, what in ((None, "nothing routed"), (n // 10, "5 features routed")):
            source = self.place.stream(n, "bin", faulty, per_second=DENSE)
            self.case(f"136 features, 20 items, bin, {what}, observe: auto", source, **AUTO)
            self.place.delete(source)

    def apart(self, title, source):
        """Run the same with the broker on one half of the processors and the client on the other."""
        if not at.halves():
            print("kafka: one processor only, so broker and client cannot be kept apart")
            return
        at.pin(self.place.broker_pid, at.halves()[0])
        self.case(title + ", broker and client apart", source, at.halves()[1])
        at.pin(self.place.broker_pid, self.place.all_cores)

    def through(self, name, rate, count, faulty):
        """Return (messages per second, {quantile: ms}); name: FORWARDER, None for this project, "" for no stage."""
        source, faulty_from = self.place.topic(), count // 10 if faulty else None
        if name == "":
            came = latency(self.place, source, source, rate, count, "bin", faulty_from)
            self.place.delete(source)
            return came
        (command, producer), target = self.contenders[name], self.place.topic()
        with Stage(self.place, command, source, target, producer):
            latency(self.place, source, target, 50, 100, "bin")  # until all are connected
            came = latency(self.place, source, target, rate, count, "bin", faulty_from)
        self.place.delete(source)
        self.place.delete(target)
        return came

    def latency_case(self, title, faulty):
        rate = self.through(None, FLAT_OUT, self.args.messages // 4, faulty)[0] / 2
        count = int(rate * self.args.seconds)
        direct = self.through("", rate, count, faulty)[1]
        found = {name: self.through(name, rate, count, faulty)[1] for name in (None, FORWARDER)}
        for quantile in direct:
            self.bench.case(f"{title}, from producer to consumer, {quantile}", "ms", found[None][quantile],
                            {FORWARDER: found[FORWARDER][quantile], "limit: no stage": direct[quantile]})
        self.bench.line(f"{title}, messages sent", "messages/s", rate, None, None)


def main():
    args = words(__doc__, messages=160000, rounds=3, seconds=10.0)
    with Place(args.build) as place:
        run = Run(place, args.build, args)
        run.throughput_cases()
        run.dense_cases()
        for faulty, what in ((False, "nothing routed"), (True, "5 features routed")):
            run.latency_case(f"136 features, 20 items, bin, {what}, half of the highest rate", faulty)


if __name__ == "__main__":
    main()

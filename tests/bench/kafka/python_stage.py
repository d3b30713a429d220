"""python_stage.py BROKERS SOURCE TARGET GROUP: a typical Python implementation: confluent-kafka in batches, msgpack,
numpy, a DataSketches KLL sketch per feature and arm, messages forwarded unchanged."""
import signal
import sys
import time

import datasketches
import msgpack
import numpy as np
from confluent_kafka import Consumer, Producer

FEATURES, BATCH, COMMIT_SECONDS = 136, 500, 5


def values(message):
    items = [item["features"] for item in message["items"]]
    if isinstance(items[0], bytes):
        return np.frombuffer(b"".join(items), "<f4").reshape(-1, FEATURES).copy()  # the sketch does not accept a view
    return np.array(items, np.float32)


def main():
    brokers, source, target, group = sys.argv[1:5]
    stopping = []
    signal.signal(signal.SIGTERM, lambda *_: stopping.append(True))
    consumer = Consumer({"bootstrap.servers": brokers, "group.id": group, "auto.offset.reset": "earliest",
                         "enable.auto.commit": False})
    producer = Producer({"bootstrap.servers": brokers, "linger.ms": 50, "queue.buffering.max.kbytes": 1 << 18})
    consumer.subscribe([source])
    arms, due = {}, time.monotonic() + COMMIT_SECONDS
    while not stopping:
        for m in consumer.consume(BATCH, 0.1):
            message = msgpack.unpackb(m.value())
            arm = message["segments"]["arm"]
            if arm not in arms:
                arms[arm] = datasketches.vector_of_kll_floats_sketches(200, FEATURES)
            arms[arm].update(values(message))
            producer.produce(target, m.value(), m.key(), partition=m.partition(), timestamp=m.timestamp()[1])
        producer.poll(0)
        if time.monotonic() > due:
            producer.flush()
            consumer.commit(asynchronous=True)
            due = time.monotonic() + COMMIT_SECONDS
    producer.flush()
    consumer.close()


main()

"""Repeated rebalances under load."""
import signal

from harness import eventually
from test_rebalance import MODES, Group, Hands, partitions


class AgainAndAgain(Hands):
    ROUNDS, RATE, PARTITIONS = 30, 400, 4

    def round(self, group, one, number):
        """Add an instance, then stop it gracefully, or kill it every third time."""
        with group.instance("two") as two:
            eventually("both have a share",
                       lambda: [partitions(d) for d in (one, two)] == [self.PARTITIONS // 2] * 2)
            two.wait_handled(self.RATE // 10)
            if number % 3:
                self.end(two)
            else:
                two.stop(signal.SIGKILL)
        eventually("one has it all", lambda: partitions(one) == self.PARTITIONS)

    def test_lose_nothing(self):
        for delivery in MODES:
            with self.subTest(delivery):
                group = Group(delivery, self.PARTITIONS, session=3000)
                with group, group.instance("one") as one:
                    one.wait_ready()
                    group.feed(self.RATE)
                    for number in range(self.ROUNDS):
                        self.round(group, one, number)
                    group.enough()
                    one.wait_drained()
                    self.end(one)
                self.assert_all(group, twice=self.ROUNDS * self.RATE)

"""Plants behind an MQTT broker: messages are published, and awaited on topics.

All topics that the file waits for are subscribed to when the broker is connected to, so that no answer is missed. A
message counts as an answer if it came after the last publish of the same action; in an action without one, after the
wait began. What the broker has retained is old by definition: it counts only where `retained = true` asks for it.

What the broker acknowledges (QoS 1 and 2) is that it has the message, not that the plant has. Messages do not say what
they answer. So after an answer that was late nothing is published until it has come, or for a while if it does not.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, final

from ascertain.errors import TaskError, import_extra
from ascertain.plant import PlantKind
from ascertain.plant.faults import Garbled, HungUp, Late, NotSent, Refused
from ascertain.plant.wiring.adapter import NUMBER, TEXT, AbstractAdapter, AdapterSettings, Step, StepForm, Types
from ascertain.plant.wiring.address import split_url
from ascertain.plant.wiring.pointer import check_pointer, take_from

PORTS = {"mqtt": 1883, "mqtts": 8883}
"""The schemes of an address, and their ports by the standard."""
KEEP_ALIVE = 30
"""Seconds after which a connection without a word is tried: half of what brokers and libraries take."""
MAX_MESSAGES = 10000
"""Kept for one action, the first that come: the answer is among them."""
MAX_PAYLOAD = 2**20
"""Bytes of a message: a reading is short, and more is nonsense."""


@final
@dataclass(frozen=True)
class Message:
    """What arrived on a topic."""

    topic: str
    payload: bytes
    retained: bool


@final
class MqttAdapter(AbstractAdapter):
    """`publish = "lamp/set", value = "on"` and `wait = "lamp/state"`, with `take` for a place in JSON."""

    steps: ClassVar[Mapping[str, StepForm]] = {
        "publish": StepForm(
            True,
            False,
            keys={"value": (str, int, float, bool, list, dict), "qos": (int,), "retain": (bool,), "changes": (bool,)},
            needs=("value",),
        ),
        "wait": StepForm(False, True, keys={"take": TEXT, "retained": (bool,)}),
    }
    options: ClassVar[Mapping[str, Types]] = {
        "username": TEXT,
        "password": TEXT,
        "client_id": TEXT,
        "qos": (int,),
        "quiet": NUMBER,
    }
    numbered = True  # not by a number: what a repeated wait finds late is its answer, and a publish waits for quiet

    def __init__(self, settings: AdapterSettings) -> None:
        super().__init__(settings)
        parts = split_url(settings.address, *PORTS)
        if parts is None or parts.path.strip("/") or parts.username:
            raise TaskError(
                f"address: {settings.address[:80]!r} is not one such as mqtt://127.0.0.1:1883 or mqtts://HOST"
            )
        self._host, self._port = parts.hostname, parts.port or PORTS[parts.scheme]
        _check_qos(settings.options.get("qos", 1))
        self._topics = tuple(dict.fromkeys(step.told for step in settings.steps if step.verb == "wait" and step.gives))
        self._mqtt: Any = None
        self._client: Any = None
        self._news = threading.Condition()
        """Held by whoever looks at or changes what follows, which the library's thread does."""
        self._gone: str | None = "never connected"
        self._codes: dict[str, Any] = {}
        """What the broker answered: to "connect", and to subscriptions and publishes by their numbers."""
        self._messages: list[Message] = []
        self._published = False
        """Whether this action has published something."""
        self._late: tuple[str, float] | None = None
        """A topic on which an answer is late, and for how long it is waited for before anything is published."""

    @classmethod
    def check(cls, step: Step) -> Step:
        topic = step.told
        bad = not topic or "\0" in topic or len(topic.encode(errors="replace")) > 65535
        if step.verb == "publish":
            _check_qos(step.words.get("qos", 1))
            bad = bad or "+" in topic or "#" in topic
        else:
            check_pointer(step.words.get("take", "text"), ("text",))
            levels = topic.split("/")
            bad = (
                bad
                or "#" in "".join(levels[:-1])
                or any(len(level) > 1 and set(level) & {"+", "#"} for level in levels)
            )
        if bad:
            raise TaskError(
                f"{step.verb} {topic[:80]!r} is not a topic such as lamp/state; + and # stand alone, for wait"
            )
        return replace(step, changes=step.changes and step.words.get("changes", True))

    def connect(self, timeout: float) -> str | None:
        self._mqtt = import_extra("paho.mqtt.client", "mqtt")
        over, options = time.monotonic() + timeout, self.settings.options
        # A client of its own for every connection: it sends nothing again, and nothing of an older one is heard.
        client = self._client = self._mqtt.Client(
            self._mqtt.CallbackAPIVersion.VERSION2,
            client_id=options.get("client_id", ""),
            clean_session=True,
            reconnect_on_failure=False,
        )
        if self.settings.address.startswith("mqtts"):
            client.tls_set()
        if "username" in options:
            client.username_pw_set(options["username"], options.get("password"))
        client.on_connect = self._noting("connect", numbered=False)
        client.on_subscribe, client.on_publish = self._noting("subscribe"), self._noting("publish")
        client.on_disconnect, client.on_message = self._lose, self._hear
        client.connect_timeout = max(timeout, 1e-3)
        self._codes, self._messages, self._gone = {}, [], None
        try:
            client.connect(self._host, self._port, keepalive=KEEP_ALIVE)
        except (OSError, ValueError) as reason:
            raise NotSent(f"{self.settings.address} does not listen: {reason}") from None
        client.loop_start()
        code = self._await(lambda: self._codes.get("connect"), over, "the broker did not answer in time")
        if code.is_failure:
            raise Refused(f"the broker refused the connection: {code}")
        if self._topics:
            self._subscribe([(topic, self.settings.options.get("qos", 1)) for topic in self._topics], over)
        return None

    def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            client.disconnect()
            client.loop_stop()

    def begin(self) -> None:
        self._published = False

    def do(self, step: Step, timeout: float) -> object:
        if self._client is None or self._gone is not None:
            raise NotSent(f"the connection to the broker was lost: {self._gone}")
        if step.verb == "wait":
            return self._wait(step, timeout)
        self._be_quiet(timeout)
        self._publish(step, time.monotonic() + timeout)
        return None

    def _publish(self, step: Step, over: float) -> None:
        value, qos = step.words["value"], step.words.get("qos", self.settings.options.get("qos", 1))
        with self._news:
            self._messages.clear()  # what came before is no answer
            self._published = True
        info = self._client.publish(
            step.told, value if isinstance(value, str) else json.dumps(value), qos, step.words.get("retain", False)
        )
        if info.rc == self._mqtt.MQTT_ERR_NO_CONN:
            raise NotSent("the connection to the broker was lost")
        code = self._await(
            lambda: self._codes.pop(f"publish {info.mid}", None), over, "the broker did not take it in time"
        )
        if getattr(code, "is_failure", False):
            raise Refused(f"the broker refused the message: {code}")

    def _wait(self, step: Step, timeout: float) -> object:
        over, topic, options = time.monotonic() + timeout, step.told, self.settings.options
        # After a publish the broker may still hold what the plant said before.
        retained = step.words.get("retained", False) and not self._published
        if not self._published:
            with self._news:
                self._messages.clear()
        if retained:  # to everyone who subscribes, also once more, the broker sends what it holds
            self._subscribe([(topic, options.get("qos", 1))], over)
        try:
            found = self._await(lambda: self._next(topic, retained), over, f"nothing came on {topic!r} in time")
        except Late:
            if self._published:
                self._late = topic, float(options.get("quiet", timeout))
            raise
        if len(found.payload) > MAX_PAYLOAD:
            raise Garbled(f"the message on {found.topic!r} has more than {MAX_PAYLOAD} bytes")
        return take_from(found.payload, step.words.get("take", "text"), "sent")

    def _be_quiet(self, timeout: float) -> None:
        """Wait for an answer that is late, so that it is not taken for the answer to what is published next."""
        if self._late is not None:
            topic, quiet = self._late
            if quiet > timeout:
                raise NotSent(f"an answer on {topic!r} is late; {quiet:.3g} s are needed, and {timeout:.3g} s are left")
            try:
                self._await(lambda: self._late is None or None, time.monotonic() + quiet, "")
            except Late:
                self._late = None  # it does not come
            except HungUp as reason:
                raise NotSent(str(reason)) from None

    def _subscribe(self, topics: list[tuple[str, int]], over: float) -> None:
        result, number = self._client.subscribe(topics)
        if result != self._mqtt.MQTT_ERR_SUCCESS:
            raise NotSent("the connection to the broker was lost")
        codes = self._await(
            lambda: self._codes.pop(f"subscribe {number}", None), over, "the broker did not answer a subscription"
        )
        for (topic, _), code in zip(topics, codes, strict=False):
            if code.is_failure:
                raise Refused(f"the broker refused the subscription to {topic!r}: {code}")

    def _next(self, topic: str, retained: bool) -> Message | None:
        """Takes the first message that counts out of those that came."""
        for i, message in enumerate(self._messages):
            if (retained or not message.retained) and self._matches(topic, message):
                return self._messages.pop(i)
        return None

    def _await(self, look: Callable[[], Any], over: float, else_: str) -> Any:
        """What `look` finds once it finds something."""
        with self._news:
            while (found := look()) is None:
                if self._gone is not None:
                    raise HungUp(f"the connection to the broker was lost: {self._gone}")
                if (left := over - time.monotonic()) <= 0:
                    raise Late(else_)
                self._news.wait(left)
            return found

    def _noting(self, what: str, numbered: bool = True) -> Callable[..., None]:
        """Takes down what the broker answers."""

        def note(_client: Any, _data: Any, number: Any, code: Any, _properties: Any) -> None:
            with self._news:
                self._codes[f"{what} {number}" if numbered else what] = code
                self._news.notify_all()

        return note

    def _lose(self, _client: Any, _data: Any, _flags: Any, code: Any, _properties: Any) -> None:
        with self._news:
            self._gone = str(code)
            self._news.notify_all()

    def _hear(self, _client: Any, _data: Any, message: Any) -> None:
        heard = Message(message.topic, message.payload[: MAX_PAYLOAD + 1], bool(message.retain))
        with self._news:
            if len(self._messages) < MAX_MESSAGES:
                self._messages.append(heard)
            if self._late is not None and not heard.retained and self._matches(self._late[0], heard):
                self._late = None
            self._news.notify_all()

    def _matches(self, topic: str, message: Message) -> bool:
        return bool(self._mqtt.topic_matches_sub(topic, message.topic))


def _check_qos(qos: int) -> None:
    if qos not in (0, 1, 2):
        raise TaskError(f"qos: {qos} is not understood; it is 0, 1 or 2")


MQTT = PlantKind("mqtt", adapter=MqttAdapter)
"""Whatever listens and answers on topics of an MQTT broker."""

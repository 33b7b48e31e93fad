"""A lamp behind an MQTT broker: `python mqtt_plant.py STATE PORT`, which prints a line when it listens.

It hears `lamp/switch` and answers on `lamp/done`; hears `lamp/ask` and answers with JSON on `lamp/lux`; and leaves its
name on `lamp/about`, retained. The state is a line in the file STATE. A file STATE.trouble with JSON [{"topic", "mode",
...}] makes what is heard on these topics go wrong, each once.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion

STATE = Path(sys.argv[1])
TROUBLE = STATE.with_suffix(".trouble")


def greet(client: mqtt.Client, *_: Any) -> None:
    client.subscribe([("lamp/switch", 1), ("lamp/ask", 1)])
    client.publish("lamp/about", STATE.stem, 1, retain=True)


def hear(client: mqtt.Client, _: Any, message: mqtt.MQTTMessage) -> None:
    troubles = json.loads(TROUBLE.read_text()) if TROUBLE.exists() else []
    trouble: dict[str, Any] = next((each for each in troubles if each["topic"] == message.topic), {"mode": ""})
    if trouble in troubles:
        troubles.remove(trouble)
        if after := trouble.get("after", 0):
            troubles.append({**trouble, "after": after - 1})
            trouble = {"mode": ""}
        TROUBLE.write_text(json.dumps(troubles))
    if trouble["mode"] == "slow":
        time.sleep(trouble["seconds"])
    if trouble["mode"] == "kill":
        os.kill(trouble["pid"], signal.SIGKILL)
    if message.topic == "lamp/switch":
        STATE.write_text("dark" if STATE.read_text() == "lit" else "lit")
        topic, text = "lamp/done", b"click"
    else:
        topic, text = "lamp/lux", json.dumps({"lux": 120.5 if STATE.read_text() == "lit" else 0.3}).encode()
    if trouble["mode"] == "nonsense":
        text = trouble.get("text", "{").encode("latin-1")
    if trouble["mode"] != "keep":
        client.publish(topic, text, 1)


client = mqtt.Client(CallbackAPIVersion.VERSION2, client_id="lamp")
client.on_connect, client.on_message = greet, hear
client.on_subscribe = lambda *_: print("listens", flush=True)
client.reconnect_delay_set(1, 1)
client.connect("127.0.0.1", int(sys.argv[2]))
client.loop_forever()

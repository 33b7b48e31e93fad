"""amqtt, a broker in Python, as a program of its own: `python mqtt_broker.py PORT`."""

import asyncio
import sys

from amqtt.broker import Broker


async def serve() -> None:
    listener = {"type": "tcp", "bind": f"127.0.0.1:{sys.argv[1]}"}
    plugins = {"amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": True}}
    broker = Broker({"listeners": {"default": listener}, "plugins": plugins})
    await broker.start()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve())

"""The mail server cedar, as a plant; with a number it fails after so many actions."""

import sys

SAYS = {
    "new": {"HELO": ("greeted", "250"), "AUTH": ("new", "503"), "SEND": ("new", "503")},
    "greeted": {"HELO": ("greeted", "250"), "AUTH": ("known", "235"), "SEND": ("greeted", "530")},
    "known": {"HELO": ("greeted", "250"), "AUTH": ("known", "503"), "SEND": ("greeted", "250")},
}

state, left = "new", int(sys.argv[1]) if len(sys.argv) > 1 else -1
for line in sys.stdin:
    number, _, action = line.strip().partition(" ")
    if number == "hello":
        print("plant cedar", flush=True)
        continue
    if left == 0:
        sys.exit("the server has failed")
    left -= 1
    if action == "RESET":
        state, answer = "new", "reset"
    elif action == "QUIT":
        state, answer = "closed", "-" if state == "closed" else "221"
    else:
        state, answer = SAYS.get(state, {}).get(action, (state, "-"))
    print(number, answer, flush=True)

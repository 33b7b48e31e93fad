"""A mail server that is in none of the models: asked to log in twice, it refuses and quietly logs out."""

import sys

SAYS = {
    "new": {"HELO": ("greeted", "250"), "AUTH": ("new", "503"), "SEND": ("new", "503")},
    "greeted": {"HELO": ("greeted", "250"), "AUTH": ("known", "235"), "SEND": ("greeted", "530")},
    "known": {"HELO": ("known", "250"), "AUTH": ("greeted", "503"), "SEND": ("known", "250")},
}

state = "new"
for line in sys.stdin:
    number, _, action = line.strip().partition(" ")
    if number == "hello":
        print("plant fir", flush=True)
        continue
    if action == "RESET":
        state, answer = "new", "reset"
    elif action == "QUIT":
        state, answer = "closed", "-" if state == "closed" else "221"
    else:
        state, answer = SAYS.get(state, {}).get(action, (state, "-"))
    print(number, answer, flush=True)

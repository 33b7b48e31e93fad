"""A lamp as a plant, in a dozen lines: it reads lines and writes lines, and does nothing twice."""

import sys

lit, last, answer = True, "", ""
for line in sys.stdin:
    number, _, action = line.strip().partition(" ")
    if number == "hello":
        print("plant lamp retry-safe", flush=True)
        continue
    if number != last:  # a number that comes again is answered again, and nothing is done
        known = action in ("look", "press the switch")
        lit = lit != (action == "press the switch")
        answer = ("lit" if lit else "dark") if action == "look" else "click" if known else "!there is no such action"
        last = number
    print(number, answer, flush=True)

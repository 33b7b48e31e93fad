#!/bin/sh
# The same lamp in shell, without the memory that would make it retry-safe.
lit=lit
while read -r number action; do
  case "$number $action" in
    hello\ *) echo "plant lamp" ;;
    *\ look) echo "$number $lit" ;;
    *\ "press the switch") if [ "$lit" = lit ]; then lit=dark; else lit=lit; fi; echo "$number click" ;;
    *) echo "$number !there is no such action" ;;
  esac
done

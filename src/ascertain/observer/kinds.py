"""The two kinds of observers that a session runs: one collects evidence, the other follows a policy."""

from __future__ import annotations

from typing import TypeAlias

from ascertain.observer.controlled import ControlledObserver, ControllerSettings
from ascertain.observer.settings import ObserverSettings
from ascertain.observer.staged import Observer

AnyObserver: TypeAlias = Observer | ControlledObserver
"""A run so far; a step returns a new one."""
AnySettings: TypeAlias = ObserverSettings | ControllerSettings
"""What is fixed before the first fresh reading."""

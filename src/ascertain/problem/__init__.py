"""The problem file: everything that it can say, turned into models, questions, operations, observers and plants."""

from ascertain.plant import list_kinds as list_kinds  # for help texts: this loads neither models nor NumPy

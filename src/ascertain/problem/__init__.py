"""Names and numbers, and the problem file: all that it can say, turned into models, questions, observers and plants."""

from ascertain.plant import list_kinds as list_kinds  # for help texts: this loads neither models nor NumPy

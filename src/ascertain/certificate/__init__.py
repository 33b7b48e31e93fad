"""What convinces a stranger: results as plain data that `ascertain_check` verifies against the task.

One file of `claims/` makes a claim; the file of the same name in `ascertain_check/claims/` checks it.
"""

from __future__ import annotations

from ascertain.certificate.write import certificate_data, write_certificate

__all__ = ["certificate_data", "write_certificate"]

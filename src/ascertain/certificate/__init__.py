"""What convinces a stranger: results as plain data that `ascertain_check` verifies against the task."""

from __future__ import annotations

from ascertain.certificate.achieves import achieves_claim, achieves_expected_claim
from ascertain.certificate.information import information_claim
from ascertain.certificate.lower import lower_claim
from ascertain.certificate.obstruction import obstruction_claim
from ascertain.certificate.program import program_claim
from ascertain.certificate.quotient import quotient_claim
from ascertain.certificate.risk import within_risk_claim
from ascertain.certificate.write import certificate_data, write_certificate

__all__ = [
    "achieves_claim",
    "achieves_expected_claim",
    "certificate_data",
    "information_claim",
    "lower_claim",
    "obstruction_claim",
    "program_claim",
    "quotient_claim",
    "within_risk_claim",
    "write_certificate",
]

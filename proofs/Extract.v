(** The proved checkers as OCaml: lower_checker.ml. lower_main.ml, which reads what they check, is not proved.

    Claims: [lower] and [lower-expected] of docs/certificate-format.md; see [LowerChecker.v] and [LowerExpectedChecker.v]. *)

From Coq Require Import Extraction ExtrOcamlBasic.
From Ascertain Require Import LowerChecker LowerExpectedChecker.

Extraction Language OCaml.
Extraction "lower_checker.ml" check check_mean.

(** The proved checker as OCaml: lower_checker.ml. Its only part that is not proved is lower_main.ml, which reads.

    Claim: [lower] of docs/certificate-format.md; see [LowerChecker.v]. *)

From Coq Require Import Extraction ExtrOcamlBasic.
From Ascertain Require Import LowerChecker.

Extraction Language OCaml.
Extraction "lower_checker.ml" check.

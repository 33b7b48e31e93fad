(** What each theorem assumes beyond what it states: nothing. `make proofs` prints this, and tests/test_proofs.py reads it.

    Claim: all that the theorems below are about. *)

From Ascertain Require Import Sums Tasks Leaves Lower LowerExpected Achieves Shares Obstruction WithinRisk Prices Conforms Sampled NoneOfThese Openings Coarsest
  Evidence EvidenceModels LowerCheckerProof LowerExpectedChecker.

Print Assumptions Sums.domination.
Print Assumptions Tasks.solves_by_walks.
Print Assumptions Leaves.leaves_equation.
Print Assumptions Leaves.leaves_cost.
Print Assumptions Lower.rows_bound_policies.
Print Assumptions Lower.lower_bound.
Print Assumptions Lower.no_policy.
Print Assumptions Lower.quotient_keeps_policies.
Print Assumptions LowerExpected.weighted_rows_bound_means.
Print Assumptions LowerExpected.lower_bound_of_the_mean.
Print Assumptions LowerExpected.no_lower_mean.
Print Assumptions Achieves.walks_end.
Print Assumptions Achieves.achieves.
Print Assumptions Achieves.achieves_expected.
Print Assumptions Achieves.optimal.
Print Assumptions Achieves.optimal_mean.
Print Assumptions Shares.shares_of_a_hypothesis.
Print Assumptions Shares.shares_of_readings.
Print Assumptions Shares.rounding.
Print Assumptions Obstruction.no_policy_settles.
Print Assumptions Obstruction.chances_sum_to_1.
Print Assumptions Obstruction.right_is_at_most_wrong.
Print Assumptions Obstruction.no_observer_within_the_risks.
Print Assumptions WithinRisk.values_bound.
Print Assumptions WithinRisk.risks_and_cost.
Print Assumptions WithinRisk.controllers_end.
Print Assumptions Prices.rows_bound_priced_sums.
Print Assumptions Prices.prices_bound_the_cost.
Print Assumptions Conforms.conformance.
Print Assumptions Conforms.few_states_are_in_the_domain.
Print Assumptions Conforms.conformance_by_size.
Print Assumptions Sampled.all_agree.
Print Assumptions Sampled.sampled_conformance.
Print Assumptions NoneOfThese.none_of_these.
Print Assumptions NoneOfThese.who_is_left_can_be_true.
Print Assumptions NoneOfThese.no_hypothesis_reads_that.
Print Assumptions Openings.begins_with_a_leaf.
Print Assumptions Openings.openings_bound_the_cost.
Print Assumptions Openings.leaves_bound_priced_sums.
Print Assumptions Openings.leaves_bound_the_cost.
Print Assumptions Coarsest.coarsest.
Print Assumptions Coarsest.classes_are_stable.
Print Assumptions Evidence.mean_at_stopping.
Print Assumptions Evidence.ville.
Print Assumptions Evidence.evidence_is_a_supermartingale.
Print Assumptions Evidence.ever_beaten.
Print Assumptions Evidence.mean_of_the_evidence.
Print Assumptions Evidence.evidence_rule.
Print Assumptions Evidence.two_stages.
Print Assumptions EvidenceModels.exact_laws_are_fair.
Print Assumptions EvidenceModels.losses_are_fair.
Print Assumptions EvidenceModels.noisy_machine_rule.
Print Assumptions EvidenceModels.bounded_errors_are_fair.
Print Assumptions EvidenceModels.bounded_errors_and_losses_are_fair.
Print Assumptions LowerCheckerProof.checker_is_sound.
Print Assumptions LowerExpectedChecker.mean_checker_is_sound.

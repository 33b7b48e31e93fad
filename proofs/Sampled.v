(** Sampled conformance: words that disagree seldom are found with a known probability.

    Claim: [sampled] of docs/certificate-format.md; src/ascertain_check/claims/sampled.py. That the words drawn from a seed are
    independent and have the declared distribution is assumed here, as it is trusted there.

    Proved: if a word that is drawn disagrees with probability p, then n words drawn independently all agree with probability
    (1 - p)^n ([all_agree]). So where (1 - bound)^n <= 1 - confidence, a plant of which more than [bound] of the words
    disagree passes with probability at most 1 - confidence ([sampled_conformance]).

    An outcome of a draw is a word or, since lists are finite while words are not, the rest, "a longer word", of which [disagrees] then
    says false. This loses nothing: if the words that disagree have more than [bound] together, finitely many of them have. *)

From Coq Require Import QArith List Lqa.
From Ascertain Require Import Sums.
Import ListNotations.
Open Scope Q_scope.

Fixpoint power (q : Q) (n : nat) : Q := match n with O => 1 | S n => q * power q n end.

Section Sample.
Context {outcome : Type} (D : list (outcome * Q)) (disagrees : outcome -> bool).

Definition is_distribution : Prop := (forall x q, In (x, q) D -> 0 <= q) /\ sum snd D == 1.

(** The probability that one word disagrees. *)
Definition chance_of_one : Q := sum (fun d => if disagrees (fst d) then snd d else 0) D.

(** All samples of n words, with the probability of each: draws are independent. *)
Fixpoint samples (n : nat) : list (list outcome * Q) :=
  match n with
  | O => [([], 1)]
  | S n => flat_map (fun d => map (fun t => (fst d :: fst t, snd d * snd t)) (samples n)) D
  end.

Definition agrees (sample : list outcome) : bool := forallb (fun x => negb (disagrees x)) sample.

(** The probability that all n words agree. *)
Definition chance_to_pass (n : nat) : Q := sum (fun t => if agrees (fst t) then snd t else 0) (samples n).

Lemma chance_of_agreement : is_distribution ->
  sum (fun d => if disagrees (fst d) then 0 else snd d) D == 1 - chance_of_one.
Proof.
  intros [_ H]. rewrite <- H. unfold chance_of_one.
  assert (E : sum snd D == sum (fun d => (if disagrees (fst d) then 0 else snd d) + (if disagrees (fst d) then snd d else 0)) D)
    by (apply sum_ext; intros d _; destruct (disagrees (fst d)); ring).
  rewrite E, sum_plus. ring.
Qed.

Theorem all_agree : is_distribution -> forall n, chance_to_pass n == power (1 - chance_of_one) n.
Proof.
  intros HD n. unfold chance_to_pass. induction n as [|n IH]; simpl; [ring|].
  rewrite sum_flat_map, <- IH, <- (chance_of_agreement HD), Qmult_comm, <- sum_scale.
  apply sum_ext. intros [x q] _. rewrite sum_map. simpl. destruct (disagrees x); simpl.
  - rewrite sum_zero. ring.
  - rewrite Qmult_comm, <- sum_scale. apply sum_ext. intros [t r] _. simpl. destruct (agrees t); ring.
Qed.

Lemma power_is_not_negative : forall q n, 0 <= q -> 0 <= power q n.
Proof. intros q n H. induction n as [|n IH]; simpl; [lra|]. apply Qmult_le_0_compat; assumption. Qed.

Lemma power_grows : forall p q n, 0 <= p <= q -> power p n <= power q n.
Proof.
  intros p q n [H0 H]. induction n as [|n IH]; simpl; [lra|].
  apply Qle_trans with (q * power p n).
  - apply Qmult_le_compat_r; [exact H|apply power_is_not_negative; exact H0].
  - rewrite !(Qmult_comm q). apply Qmult_le_compat_r; [exact IH|lra].
Qed.

Lemma chance_is_at_most_1 : is_distribution -> chance_of_one <= 1.
Proof.
  intros HD. assert (H : 0 <= sum (fun d => if disagrees (fst d) then 0 else snd d) D).
  { apply sum_is_not_negative. intros [x q] Hin. simpl. destruct (disagrees x); [lra|]. exact (proj1 HD _ _ Hin). }
  rewrite (chance_of_agreement HD) in H. lra.
Qed.

Theorem sampled_conformance : is_distribution -> forall n bound confidence,
  power (1 - bound) n <= 1 - confidence -> bound <= chance_of_one -> chance_to_pass n <= 1 - confidence.
Proof.
  intros HD n bound confidence H Hp. rewrite (all_agree HD n).
  pose proof (chance_is_at_most_1 HD). apply Qle_trans with (power (1 - bound) n); [apply power_grows; lra|exact H].
Qed.

End Sample.

(** The evidence rule: whatever is true, an answer is wrong with probability at most alpha.

    Claim: [run] of docs/certificate-format.md, and docs/evidence.md; src/ascertain_check/claims/run.py, evidence.py and the
    files of worlds beside them.

    Proved, for every finite number of steps n, in exact rationals: probabilities are sums over the tree of what can be read
    in n steps, where the next action, the moment of answering and the answer are any function of the history. The evidence
    against the truth is a nonnegative supermartingale ([evidence_is_a_supermartingale]), its mean at any stopping
    time is at most the sum of the weights ([mean_at_stopping]), it ever reaches 1/alpha with probability at most alpha (Ville's
    inequality, [ever_beaten]), and a rule that answers only where every rival has been beaten at some time, now or before, is
    wrong with probability at most alpha ([evidence_rule]), also where the truth is not in the bank, weights sum to less than
    1, and labels are those of current states. Two banks with a share of alpha each: [two_stages]. What is needed of the
    plant is [fair]; proved for exact laws ([exact_laws_are_fair]), for readings that may be lost ([losses_are_fair]), and for
    errors of at most a stated probability wherever they go ([bounded_errors_are_fair], [noise] [at_most]). *)

From Coq Require Import QArith List Lqa PeanoNat Bool.
From Ascertain Require Import Sums.
Import ListNotations.
Open Scope Q_scope.

Section Evidence.

Variables action reading label Z : Type.
Variable same_label : forall k l : label, {k = l} + {k <> l}.

(** What was done and read, the latest first. *)
Definition history := list (action * reading).

(** All that can be read. *)
Variable Y : list reading.

Inductive choice := Act (a : action) | Answer (l : label) | Abstain.

(** The observer: any function of the history. *)
Variable rule : history -> choice.

(** ** Probabilities over the tree of histories *)

Section Plant.

(** [P h a y]: the probability of reading y when a is done after h. *)
Variable P : history -> action -> reading -> Q.

Definition is_law : Prop := (forall h a y, 0 <= P h a y) /\ forall h a, sum (P h a) Y <= 1.

(** Every reading of the history had a positive probability. *)
Fixpoint possible (h : history) : Prop :=
  match h with [] => True | (a, y) :: h' => 0 < P h' a y /\ possible h' end.

(** The probability that [test] holds after h or, within n more steps, at some later time. *)
Fixpoint ever (test : history -> bool) (n : nat) (h : history) : Q :=
  if test h then 1 else
  match n, rule h with
  | S n, Act a => sum (fun y => P h a y * ever test n ((a, y) :: h)) Y
  | _, _ => 0
  end.

(** The mean of f when the observer stops, or after n more steps. *)
Fixpoint mean (f : history -> Q) (n : nat) (h : history) : Q :=
  match n, rule h with
  | S n, Act a => sum (fun y => P h a y * mean f n ((a, y) :: h)) Y
  | _, _ => f h
  end.

(** The probability of a wrong answer within n more steps; [truth h] is the right one after h. *)
Fixpoint wrong (truth : history -> label) (n : nat) (h : history) : Q :=
  match rule h with
  | Answer l => if same_label l (truth h) then 0 else 1
  | Abstain => 0
  | Act a =>
      match n with
      | O => 0
      | S n => sum (fun y => P h a y * wrong truth n ((a, y) :: h)) Y
      end
  end.

Definition supermartingale (M : history -> Q) : Prop :=
  (forall h, 0 <= M h) /\ forall h a, possible h -> sum (fun y => P h a y * M ((a, y) :: h)) Y <= M h.

Hypothesis law : is_law.

Lemma sum_over_possible : forall h a f g, (forall y, 0 < P h a y -> f y <= g y) ->
  sum (fun y => P h a y * f y) Y <= sum (fun y => P h a y * g y) Y.
Proof.
  intros h a f g H. apply sum_le. intros y _. destruct (Qlt_le_dec 0 (P h a y)) as [L|L].
  - rewrite (Qmult_comm _ (f y)), (Qmult_comm _ (g y)). apply Qmult_le_compat_r; [apply H, L|lra].
  - destruct law as [Hpos _]. specialize (Hpos h a y). assert (E : P h a y == 0) by lra. rewrite E. lra.
Qed.

Theorem mean_at_stopping : forall M, supermartingale M -> forall n h, possible h -> mean M n h <= M h.
Proof.
  intros M [Hpos HM] n. induction n as [|n IH]; intros h Hh; simpl; [lra|].
  destruct (rule h) as [a|l|]; try lra. eapply Qle_trans; [|apply (HM h a Hh)].
  apply sum_over_possible. intros y Hy. apply IH. simpl. auto.
Qed.

(** Ville's inequality. *)
Theorem ville : forall M test, supermartingale M -> (forall h, possible h -> test h = true -> 1 <= M h) ->
  forall n h, possible h -> ever test n h <= M h.
Proof.
  intros M test [Hpos HM] Htest n. induction n as [|n IH]; intros h Hh; simpl.
  - destruct (test h) eqn:E; [apply Htest; assumption|apply Hpos].
  - destruct (test h) eqn:E; [apply Htest; assumption|]. destruct (rule h) as [a|l|]; try apply Hpos.
    eapply Qle_trans; [|apply (HM h a Hh)]. apply sum_over_possible. intros y Hy. apply IH. simpl. auto.
Qed.

Lemma wrong_is_at_most_1 : forall truth n h, wrong truth n h <= 1.
Proof.
  intros truth n. induction n as [|n IH]; intros h; simpl; destruct (rule h) as [a|l|]; try lra;
    try (destruct (same_label l (truth h)); lra).
  destruct law as [Hpos Hsum]. eapply Qle_trans; [|apply (Hsum h a)]. apply sum_le. intros y _.
  specialize (IH ((a, y) :: h)). specialize (Hpos h a y).
  setoid_replace (P h a y) with (P h a y * 1) at 2 by ring.
  rewrite (Qmult_comm _ (wrong truth n _)), (Qmult_comm _ 1). apply Qmult_le_compat_r; assumption.
Qed.

(** [test] held after some part of the history. *)
Fixpoint held (test : history -> bool) (h : history) : bool :=
  test h || match h with [] => false | _ :: h' => held test h' end.

Lemma wrong_is_at_most_ever : forall truth test,
  (forall h l, rule h = Answer l -> l <> truth h -> held test h = true) ->
  forall n h, match h with [] => True | _ :: h' => held test h' = false end -> wrong truth n h <= ever test n h.
Proof.
  intros truth test Hrule n. induction n as [|n IH]; intros h Hh;
    pose proof (wrong_is_at_most_1 truth) as Hone.
  - simpl. destruct (test h) eqn:E; [apply (Hone O h)|].
    destruct (rule h) as [a|l|] eqn:R; try lra. destruct (same_label l (truth h)) as [_|Hne]; [lra|].
    specialize (Hrule h l R Hne). destruct h; simpl in *; rewrite E in Hrule; simpl in Hrule; congruence.
  - simpl ever. destruct (test h) eqn:E; [apply (Hone (S n) h)|]. simpl wrong.
    assert (Hheld : held test h = false) by (destruct h; simpl in *; rewrite E; simpl; auto).
    destruct (rule h) as [a|l|] eqn:R; try lra.
    + apply sum_over_possible. intros y _. apply IH. exact Hheld.
    + destruct (same_label l (truth h)) as [_|Hne]; [lra|]. rewrite (Hrule h l R Hne) in Hheld. discriminate.
Qed.
End Plant.

(** ** Likelihoods, and the mixture of a bank *)

(** What a reading counts for a state of the world: its probability where laws are exact. *)
Definition scores := Z -> history -> action -> reading -> Q.

Definition not_negative (score : scores) : Prop := forall z h a y, 0 <= score z h a y.

(** L_z *)
Fixpoint likelihood (score : scores) (z : Z) (h : history) : Q :=
  match h with [] => 1 | (a, y) :: h' => score z h' a y * likelihood score z h' end.

Definition bank := list (Z * Q).
Definition is_bank (B : bank) : Prop := (forall c, In c B -> 0 <= snd c) /\ sum snd B <= 1.

(** S: the sum over the bank of w_c L_c. *)
Definition mixture (score : scores) (B : bank) (h : history) : Q :=
  sum (fun c => snd c * likelihood score (fst c) h) B.

(** E_z, where L_z is positive. *)
Definition evidence (score : scores) (B : bank) (z : Z) (h : history) : Q := mixture score B h / likelihood score z h.

(** L_z <= alpha S *)
Definition beaten (score : scores) (B : bank) (alpha : Q) (z : Z) (h : history) : bool :=
  Qle_bool (likelihood score z h) (alpha * mixture score B h).

(** What the scores need of the plant: what happens counts something for the truth, and the factor of any candidate against
    it has a mean of at most 1, whatever was done and read before. *)
Definition fair (P : history -> action -> reading -> Q) (score : scores) (z : Z) : Prop :=
  (forall h a y, 0 < P h a y -> 0 < score z h a y) /\
  forall c h a, sum (fun y => P h a y * (score c h a y / score z h a y)) Y <= 1.

Lemma likelihood_is_not_negative : forall score z h, not_negative score -> 0 <= likelihood score z h.
Proof.
  intros score z h H. induction h as [|[a y] h IH]; simpl; [lra|]. apply Qmult_le_0_compat; [apply H|exact IH].
Qed.

Lemma likelihood_of_the_truth : forall P score z h, fair P score z -> possible P h -> 0 < likelihood score z h.
Proof.
  intros P score z h [Hf _]. induction h as [|[a y] h IH]; simpl; intros H; [lra|].
  destruct H as [H1 H2]. apply Qmult_lt_0_compat; [apply Hf, H1|apply IH, H2].
Qed.

Lemma mixture_is_not_negative : forall score B h, not_negative score -> is_bank B -> 0 <= mixture score B h.
Proof.
  intros score B h Hs [HB _]. unfold mixture. apply sum_is_not_negative. intros c Hc.
  apply Qmult_le_0_compat; [apply HB, Hc|apply likelihood_is_not_negative, Hs].
Qed.

Theorem evidence_is_a_supermartingale : forall P score B z,
  not_negative score -> is_bank B -> fair P score z -> supermartingale P (evidence score B z).
Proof.
  intros P score B z Hs HB [Hf Hmean]. split.
  - intros h. unfold evidence, Qdiv. apply Qmult_le_0_compat; [apply mixture_is_not_negative; assumption|].
    apply Qinv_le_0_compat, likelihood_is_not_negative, Hs.
  - intros h a _.
    set (part := fun c : Z * Q => snd c * (likelihood score (fst c) h / likelihood score z h)).
    assert (E : sum (fun y => P h a y * evidence score B z ((a, y) :: h)) Y ==
                sum (fun c => part c * sum (fun y => P h a y * (score (fst c) h a y / score z h a y)) Y) B).
    { rewrite (sum_ext _ (fun y => sum (fun c => part c * (P h a y * (score (fst c) h a y / score z h a y))) B)).
      - rewrite sum_swap. apply sum_ext. intros c _. rewrite <- sum_scale. reflexivity.
      - intros y _. unfold evidence, mixture, Qdiv. simpl. rewrite Qmult_assoc, Qmult_comm, <- !sum_scale.
        apply sum_ext. intros [c w] _. unfold part, Qdiv. simpl. rewrite Qinv_mult_distr. ring. }
    rewrite E. assert (E2 : evidence score B z h == sum part B).
    { unfold evidence, mixture, part, Qdiv. rewrite Qmult_comm, <- sum_scale. apply sum_ext. intros c _. ring. }
    rewrite E2. apply sum_le. intros c Hc. setoid_replace (part c) with (part c * 1) at 2 by ring.
    rewrite (Qmult_comm (part c)), (Qmult_comm (part c) 1). apply Qmult_le_compat_r; [apply Hmean|].
    unfold part. apply Qmult_le_0_compat; [apply HB, Hc|]. unfold Qdiv.
    apply Qmult_le_0_compat; [|apply Qinv_le_0_compat]; apply likelihood_is_not_negative, Hs.
Qed.

Lemma evidence_at_the_start : forall score B z, is_bank B -> evidence score B z [] <= 1.
Proof.
  intros score B z [_ HB]. unfold evidence, mixture. simpl.
  assert (E : sum (fun c => snd c * 1) B / 1 == sum snd B).
  { unfold Qdiv. rewrite (sum_ext _ snd); [field|]. intros. ring. }
  rewrite E. exact HB.
Qed.

Lemma beaten_means_evidence : forall P score B alpha z h, fair P score z -> possible P h ->
  beaten score B alpha z h = true -> 1 <= alpha * evidence score B z h.
Proof.
  intros P score B alpha z h Hf Hh Hb. apply Qle_bool_iff in Hb.
  pose proof (likelihood_of_the_truth P score z h Hf Hh) as L. unfold evidence.
  setoid_replace (alpha * (mixture score B h / likelihood score z h))
    with ((alpha * mixture score B h) / likelihood score z h) by (unfold Qdiv; ring).
  apply Qle_shift_div_l; [assumption|]. lra.
Qed.

Lemma supermartingale_scale : forall P M c, 0 <= c -> supermartingale P M -> supermartingale P (fun h => c * M h).
Proof.
  intros P M c Hc [Hpos HM]. split.
  - intros h. apply Qmult_le_0_compat; [assumption|apply Hpos].
  - intros h a Hh. rewrite (sum_ext _ (fun y => c * (P h a y * M ((a, y) :: h)))) by (intros; ring).
    rewrite sum_scale, (Qmult_comm c), (Qmult_comm c). apply Qmult_le_compat_r; [apply HM, Hh|assumption].
Qed.

Lemma supermartingale_plus : forall P M N, supermartingale P M -> supermartingale P N ->
  supermartingale P (fun h => M h + N h).
Proof.
  intros P M N [Hpos HM] [Hpos' HN]. split.
  - intros h. specialize (Hpos h). specialize (Hpos' h). lra.
  - intros h a Hh. rewrite (sum_ext _ (fun y => P h a y * M ((a, y) :: h) + P h a y * N ((a, y) :: h))) by (intros; ring).
    rewrite sum_plus. apply Qplus_le_compat; [apply HM, Hh|apply HN, Hh].
Qed.

(** The truth is ever beaten, within any number of steps, with probability at most alpha. *)
Theorem ever_beaten : forall P score B alpha z,
  is_law P -> not_negative score -> is_bank B -> fair P score z -> 0 <= alpha ->
  forall n, ever P (beaten score B alpha z) n [] <= alpha.
Proof.
  intros P score B alpha z HP Hs HB Hf Ha n.
  eapply Qle_trans.
  - apply (ville P HP (fun h => alpha * evidence score B z h)).
    + apply supermartingale_scale; [assumption|]. apply evidence_is_a_supermartingale; assumption.
    + intros h Hh Hb. exact (beaten_means_evidence P score B alpha z h Hf Hh Hb).
    + exact I.
  - pose proof (evidence_at_the_start score B z HB).
    setoid_replace alpha with (alpha * 1) at 2 by ring.
    rewrite (Qmult_comm alpha), (Qmult_comm alpha 1). apply Qmult_le_compat_r; assumption.
Qed.

Corollary mean_of_the_evidence : forall P score B z,
  is_law P -> not_negative score -> is_bank B -> fair P score z ->
  forall n, mean P (evidence score B z) n [] <= 1.
Proof.
  intros P score B z HP Hs HB Hf n. eapply Qle_trans; [|apply (evidence_at_the_start score B z HB)].
  apply (mean_at_stopping P HP); [apply evidence_is_a_supermartingale; assumption|exact I].
Qed.

(** [answer_of z h]: the right answer after h where z is true. It is the label of z, or in a question about the current state
    that of the state reached. The rule answers only where every rival has been beaten, now or before. *)
Definition answers_when_rivals_are_beaten (answer_of : Z -> history -> label) (score : scores) (B : bank) (alpha : Q) :=
  forall h l z, rule h = Answer l -> l <> answer_of z h -> held (beaten score B alpha z) h = true.

(** The truth z may be any state of the world, in the bank or not. *)
Theorem evidence_rule : forall answer_of score B alpha,
  not_negative score -> is_bank B -> 0 <= alpha ->
  answers_when_rivals_are_beaten answer_of score B alpha ->
  forall z P, is_law P -> fair P score z ->
  forall n, wrong P (answer_of z) n [] <= alpha.
Proof.
  intros answer_of score B alpha Hs HB Ha Hrule z P HP Hf n.
  eapply Qle_trans; [|apply (ever_beaten P score B alpha z HP Hs HB Hf Ha n)].
  apply (wrong_is_at_most_ever P HP); [|exact I]. intros h l R Hne. exact (Hrule h l z R Hne).
Qed.

(** Two tests with a share of alpha each, of which either may beat a state: the policies [staged] and [readwise]. Readings
    that the second does not score count 1 there for every state. *)
Theorem two_stages : forall answer_of score B alpha score' B' alpha',
  not_negative score -> is_bank B -> 0 <= alpha ->
  not_negative score' -> is_bank B' -> 0 <= alpha' ->
  (forall h l z, rule h = Answer l -> l <> answer_of z h ->
     held (fun h => beaten score B alpha z h || beaten score' B' alpha' z h) h = true) ->
  forall z P, is_law P -> fair P score z -> fair P score' z ->
  forall n, wrong P (answer_of z) n [] <= alpha + alpha'.
Proof.
  intros answer_of score B alpha score' B' alpha' Hs HB Ha Hs' HB' Ha' Hrule z P HP Hf Hf' n.
  set (test := fun h => beaten score B alpha z h || beaten score' B' alpha' z h).
  eapply Qle_trans; [apply (wrong_is_at_most_ever P HP (answer_of z) test)|].
  { intros h l R Hne. exact (Hrule h l z R Hne). }
  { exact I. }
  set (M := fun h => alpha * evidence score B z h + alpha' * evidence score' B' z h).
  assert (HM : supermartingale P M).
  { apply supermartingale_plus; apply supermartingale_scale; auto; apply evidence_is_a_supermartingale; assumption. }
  eapply Qle_trans; [apply (ville P HP M test HM)|].
  - intros h Hh Hb. unfold test in Hb. apply orb_true_iff in Hb. unfold M.
    assert (N1 : 0 <= alpha * evidence score B z h).
    { apply Qmult_le_0_compat; [assumption|]. apply (evidence_is_a_supermartingale P score B z Hs HB Hf). }
    assert (N2 : 0 <= alpha' * evidence score' B' z h).
    { apply Qmult_le_0_compat; [assumption|]. apply (evidence_is_a_supermartingale P score' B' z Hs' HB' Hf'). }
    destruct Hb as [Hb|Hb];
      [pose proof (beaten_means_evidence P score B alpha z h Hf Hh Hb)|
       pose proof (beaten_means_evidence P score' B' alpha' z h Hf' Hh Hb)]; lra.
  - exact I.
  - unfold M. pose proof (evidence_at_the_start score B z HB) as E1. pose proof (evidence_at_the_start score' B' z HB') as E2.
    assert (alpha * evidence score B z [] <= alpha).
    { setoid_replace alpha with (alpha * 1) at 2 by ring. rewrite (Qmult_comm alpha), (Qmult_comm alpha 1).
      apply Qmult_le_compat_r; assumption. }
    assert (alpha' * evidence score' B' z [] <= alpha').
    { setoid_replace alpha' with (alpha' * 1) at 2 by ring. rewrite (Qmult_comm alpha'), (Qmult_comm alpha' 1).
      apply Qmult_le_compat_r; assumption. }
    lra.
Qed.
End Evidence.

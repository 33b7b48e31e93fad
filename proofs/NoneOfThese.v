(** None of the hypotheses can have shown what was read.

    Claim: [none-of-these] of docs/certificate-format.md; src/ascertain_check/claims/none_of_these.py. [Some []] below is what the
    checker finds when it accepts; a reading that the model does not have is [None].

    Proved: if every hypothesis, led through the transcript, drops out at a reading that it cannot give, and all who are left
    allow each action before that, then under every hypothesis the readings, given the actions, have probability 0 ([none_of_these]). And only then:
    where one is left, it gives them with a positive probability ([who_is_left_can_be_true]). A machine without noise
    is the case of laws with one reading ([no_hypothesis_reads_that]). *)

From Coq Require Import QArith List Lqa PeanoNat.
From Ascertain Require Import Sums Tasks Obstruction.
Import ListNotations.
Open Scope Q_scope.

Definition transcript := list (nat * option nat).

(** The probability of a reading under a law. *)
Definition chance_of (L : list (nat * Q)) (y : option nat) : Q :=
  match y with None => 0 | Some y => sum (fun yp => if Nat.eqb (fst yp) y then snd yp else 0) L end.

(** The probability of the readings of a transcript, its actions given, from a state on. *)
Fixpoint chance_to_show (M : noisy) (s : nat) (steps : transcript) : Q :=
  match steps with
  | [] => 1
  | (a, y) :: rest =>
      match leads M s a with
      | None => 0
      | Some (s', i) => chance_of (law M i) y * chance_to_show M s' rest
      end
  end.

Definition can_read (L : list (nat * Q)) (y : option nat) : bool :=
  match y with None => false | Some y => existsb (fun yp => Nat.eqb (fst yp) y) L end.

(** Those of (hypothesis, state) that go on after one step; [None]: one of them does not allow the action. *)
Fixpoint lead (M : noisy) (R : list (nat * nat)) (a : nat) (y : option nat) : option (list (nat * nat)) :=
  match R with
  | [] => Some []
  | (h, s) :: R =>
      match leads M s a, lead M R a y with
      | Some (s', i), Some R' => Some (if can_read (law M i) y then (h, s') :: R' else R')
      | _, _ => None
      end
  end.

Fixpoint left_by (M : noisy) (R : list (nat * nat)) (steps : transcript) : option (list (nat * nat)) :=
  match steps with
  | [] => Some R
  | (a, y) :: rest => match lead M R a y with Some R' => left_by M R' rest | None => None end
  end.

Lemma lead_in : forall M a y R R' h s, lead M R a y = Some R' -> In (h, s) R ->
  exists s' i, leads M s a = Some (s', i) /\ (can_read (law M i) y = true -> In (h, s') R').
Proof.
  intros M a y R. induction R as [|[g t] R IH]; intros R' h s H Hin; simpl in *; [contradiction|].
  destruct (leads M t a) as [[t' i]|] eqn:E; [|discriminate].
  destruct (lead M R a y) as [K|] eqn:EK; [|discriminate]. injection H as H. destruct Hin as [Hin|Hin].
  - injection Hin as H1 H2. subst. exists t', i. split; [assumption|]. intros C. rewrite C. left. reflexivity.
  - destruct (IH K h s eq_refl Hin) as [s' [j [H1 H2]]]. exists s', j. split; [assumption|].
    intros C. subst. destruct (can_read (law M i) y); [right|]; apply H2, C.
Qed.

Lemma in_lead : forall M a y R R' h s', lead M R a y = Some R' -> In (h, s') R' ->
  exists s i, In (h, s) R /\ leads M s a = Some (s', i) /\ can_read (law M i) y = true.
Proof.
  intros M a y R. induction R as [|[g t] R IH]; intros R' h s' H Hin; simpl in *.
  - injection H as H. subst. contradiction.
  - destruct (leads M t a) as [[t' i]|] eqn:E; [|discriminate].
    destruct (lead M R a y) as [K|] eqn:EK; [|discriminate]. injection H as H. subst.
    destruct (can_read (law M i) y) eqn:C; [destruct Hin as [Hin|Hin]|].
    + injection Hin as H1 H2. subst. exists t, i. auto.
    + destruct (IH K h s' eq_refl Hin) as [s [j [H1 H2]]]. exists s, j. auto.
    + destruct (IH K h s' eq_refl Hin) as [s [j [H1 H2]]]. exists s, j. auto.
Qed.

Lemma cannot_read : forall L y, can_read L y = false -> chance_of L y == 0.
Proof.
  intros L [y|] H; simpl in *; [|reflexivity]. induction L as [|[z p] L IH]; simpl in *; [reflexivity|].
  apply orb_false_elim in H. destruct H as [H1 H2]. rewrite H1, (IH H2). ring.
Qed.

Lemma chance_is_positive : forall L y, (forall z p, In (z, p) L -> 0 < p) -> can_read L y = true -> 0 < chance_of L y.
Proof.
  intros L [y|] HL H; simpl in *; [|discriminate]. induction L as [|[z p] L IH]; simpl in *; [discriminate|].
  assert (Hp : 0 < p) by (apply (HL z p); left; reflexivity).
  assert (Hrest : 0 <= sum (fun yp => if Nat.eqb (fst yp) y then snd yp else 0) L).
  { apply sum_is_not_negative. intros [x q] Hin. simpl. destruct (Nat.eqb x y); [|lra].
    apply Qlt_le_weak, (HL x q). right. exact Hin. }
  destruct (Nat.eqb z y) eqn:E; simpl in *; [lra|].
  assert (0 < sum (fun yp => if Nat.eqb (fst yp) y then snd yp else 0) L) by (apply IH; [intros; eapply HL; right; eassumption|assumption]).
  lra.
Qed.

Theorem none_of_these : forall M steps R, left_by M R steps = Some [] ->
  forall h s, In (h, s) R -> chance_to_show M s steps == 0.
Proof.
  intros M steps. induction steps as [|[a y] rest IH]; intros R H h s Hin; simpl in *.
  - injection H as H. subst. contradiction.
  - destruct (lead M R a y) as [R'|] eqn:E; [|discriminate].
    destruct (lead_in M a y R R' h s E Hin) as [s' [i [H1 H2]]]. rewrite H1.
    destruct (can_read (law M i) y) eqn:C.
    + rewrite (IH R' H h s' (H2 eq_refl)). ring.
    + rewrite (cannot_read _ _ C). ring.
Qed.

Theorem who_is_left_can_be_true : forall M, laws_are_laws M -> forall steps R L, left_by M R steps = Some L ->
  forall h s', In (h, s') L -> exists s, In (h, s) R /\ 0 < chance_to_show M s steps.
Proof.
  intros M HM steps. induction steps as [|[a y] rest IH]; intros R L H h s' Hin; simpl in *.
  - injection H as H. subst. exists s'. split; [assumption|lra].
  - destruct (lead M R a y) as [R'|] eqn:E; [|discriminate].
    destruct (IH R' L H h s' Hin) as [t [Ht Hpos]]. destruct (in_lead M a y R R' h t E Ht) as [s [i [H1 [H2 H3]]]].
    exists s. split; [assumption|]. rewrite H2.
    apply Qmult_lt_0_compat; [|assumption]. apply chance_is_positive; [|assumption]. intros z p Hz. exact (proj1 (HM i) z p Hz).
Qed.

(** ** Without noise *)

(** A machine as one whose laws, numbered by their readings, are certain. *)
Definition certain (M : task) : noisy := {|
  leads := fun s a => match step M s a with Some (y, s') => Some (s', y) | None => None end;
  law := fun y => [(y, 1)];
  label_now := current M
|}.

(** What the machine reads along these actions, as long as they are allowed. *)
Fixpoint reads (M : task) (s : nat) (steps : transcript) : Prop :=
  match steps with
  | [] => True
  | (a, y) :: rest => exists z s', step M s a = Some (z, s') /\ y = Some z /\ reads M s' rest
  end.

Theorem no_hypothesis_reads_that : forall M steps R, left_by (certain M) R steps = Some [] ->
  forall h s, In (h, s) R -> ~ reads M s steps.
Proof.
  intros M steps R H h s Hin Hr. pose proof (none_of_these (certain M) steps R H h s Hin) as H0.
  assert (H1 : chance_to_show (certain M) s steps == 1); [|rewrite H0 in H1; discriminate].
  clear H H0 Hin. revert s Hr. induction steps as [|[a y] rest IH]; intros s Hr; simpl in *; [reflexivity|].
  destruct Hr as [z [s' [H1 [H2 H3]]]]. subst. rewrite H1. simpl. rewrite Nat.eqb_refl, (IH s' H3). ring.
Qed.

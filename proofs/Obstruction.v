(** A closed set of pairs of states: no experiment tells the two hypotheses apart, so no answer is right for both.

    Claim: [obstruction] of docs/certificate-format.md; src/ascertain_check/claims/obstruction.py.

    Proved: if the pairs are closed under the actions that both states allow, with equal readings (equal laws), and hold the
    pair of two hypotheses with different labels, then on a machine no policy settles the question ([no_policy_settles]). On
    a noisy machine every observer, also one that draws at random, answers right under one of the two with a
    probability that is at most that of answering wrong under the other ([right_is_at_most_wrong]); so there is none that errs
    with probability at most alpha and abstains with probability at most beta where 2 alpha + beta < 1
    ([no_observer_within_the_risks]). Observers are trees each of whose paths is finite. *)

From Coq Require Import QArith List Lqa PeanoNat.
From Ascertain Require Import Sums Tasks.
Import ListNotations.
Open Scope Q_scope.

(** ** Machines *)

Definition closed (M : task) (pairs : list (nat * nat)) : Prop :=
  forall s t, In (s, t) pairs ->
  match current M with None => True | Some f => f s <> f t end /\
  forall a y s' y' t', step M s a = Some (y, s') -> step M t a = Some (y', t') -> y = y' /\ In (s', t') pairs.

Theorem no_policy_settles : forall M pairs, closed M pairs ->
  forall p R l k s t, In (l, s) R -> In (k, t) R -> l <> k -> In (s, t) pairs -> ~ solves M p R.
Proof.
  intros M pairs Hcl p R l k s t Hl Hk Hne Hin Hs. rewrite solves_by_walks in Hs.
  pose proof (Hs _ _ Hl) as R1. pose proof (Hs _ _ Hk) as R2. clear R Hl Hk Hs.
  revert l k s t Hne Hin R1 R2. induction p as [j|a next IH]; intros l k s t Hne Hin R1 R2; simpl in *; [congruence|].
  destruct (step M s a) as [[y s']|] eqn:E1; [|contradiction].
  destruct (step M t a) as [[y' t']|] eqn:E2; [|contradiction].
  destruct (Hcl s t Hin) as [_ H]. destruct (H _ _ _ _ _ E1 E2) as [Ey Hin']. subst y'.
  refine (IH y _ _ s' t' _ Hin' R1 R2). unfold label_after. destruct (Hcl s' t' Hin') as [Hlab _].
  destruct (current M); assumption.
Qed.

(** ** Noisy machines *)

Record noisy := {
  leads : nat -> nat -> option (nat * nat);  (* the successor and the number of the law; [None]: not allowed *)
  law : nat -> list (nat * Q);               (* readings with their probabilities *)
  label_now : option (nat -> nat)
}.

Definition laws_are_laws (M : noisy) : Prop :=
  forall i, (forall y p, In (y, p) (law M i) -> 0 < p) /\ sum snd (law M i) == 1.

Inductive observer :=
| Conclude (k : option nat)                  (* an answer; [None] abstains *)
| Try (a : nat) (next : nat -> observer)
| Toss (q : Q) (heads tails : observer).     (* draws at random: the first with probability q *)

Definition new_label (M : noisy) (l s : nat) : nat := match label_now M with None => l | Some f => f s end.

(** Who may still be true after a is done and y is read. *)
Definition remain (M : noisy) (R : list (nat * nat)) (a y : nat) : list (nat * nat) :=
  flat_map (fun m => match leads M (snd m) a with
                     | Some (s', i) => if in_dec Nat.eq_dec y (map fst (law M i)) then [(new_label M (fst m) s', s')] else []
                     | None => []
                     end) R.

(** Only actions that all who may still be true allow; chances are chances. *)
Fixpoint keeps_to (M : noisy) (o : observer) (R : list (nat * nat)) : Prop :=
  match o with
  | Conclude _ => True
  | Try a next => (forall m, In m R -> leads M (snd m) a <> None) /\ forall y, keeps_to M (next y) (remain M R a y)
  | Toss q heads tails => 0 <= q <= 1 /\ keeps_to M heads R /\ keeps_to M tails R
  end.

(** The probability that what is concluded, and the label that is right, satisfy [event]. *)
Fixpoint chance (M : noisy) (event : option nat -> nat -> bool) (o : observer) (l s : nat) : Q :=
  match o with
  | Conclude k => if event k l then 1 else 0
  | Toss q heads tails => q * chance M event heads l s + (1 - q) * chance M event tails l s
  | Try a next =>
      match leads M s a with
      | None => 0
      | Some (s', i) => sum (fun yp => snd yp * chance M event (next (fst yp)) (new_label M l s') s') (law M i)
      end
  end.

Definition is_right (k : option nat) (l : nat) : bool := match k with Some k => Nat.eqb k l | None => false end.
Definition is_wrong (k : option nat) (l : nat) : bool := match k with Some k => negb (Nat.eqb k l) | None => false end.
Definition is_none (k : option nat) (l : nat) : bool := match k with Some _ => false | None => true end.

Lemma in_remain : forall M R a l s s' i y p, In (l, s) R -> leads M s a = Some (s', i) -> In (y, p) (law M i) ->
  In (new_label M l s', s') (remain M R a y).
Proof.
  intros M R a l s s' i y p Hin E Hy. unfold remain. apply in_flat_map. exists (l, s). split; [assumption|].
  simpl. rewrite E. destruct (in_dec Nat.eq_dec y (map fst (law M i))) as [_|Hn]; [left; reflexivity|].
  exfalso. apply Hn. apply in_map_iff. exists (y, p). auto.
Qed.

(** An observer answers right, wrong, or not at all. *)
Theorem chances_sum_to_1 : forall M, laws_are_laws M -> forall o R l s, keeps_to M o R -> In (l, s) R ->
  chance M is_right o l s + chance M is_wrong o l s + chance M is_none o l s == 1.
Proof.
  intros M HL o. induction o as [k|a next IH|q heads IHh tails IHt]; intros R l s Hk Hin; simpl in *.
  - destruct k as [k|]; simpl; [destruct (Nat.eqb k l)|]; simpl; ring.
  - destruct Hk as [Hall Hnext]. specialize (Hall _ Hin). simpl in Hall.
    destruct (leads M s a) as [[s' i]|] eqn:E; [|congruence]. rewrite <- !sum_plus.
    destruct (HL i) as [_ H1]. rewrite <- H1. apply sum_ext. intros [y p] Hy. simpl.
    rewrite <- !Qmult_plus_distr_r, (IH y (remain M R a y) (new_label M l s') s'); [ring|apply Hnext|].
    eapply in_remain; eassumption.
  - destruct Hk as [Hq [Hh Ht]]. specialize (IHh R l s Hh Hin). specialize (IHt R l s Ht Hin).
    setoid_replace (q * chance M is_right heads l s + (1 - q) * chance M is_right tails l s +
                    (q * chance M is_wrong heads l s + (1 - q) * chance M is_wrong tails l s) +
                    (q * chance M is_none heads l s + (1 - q) * chance M is_none tails l s))
      with (q * (chance M is_right heads l s + chance M is_wrong heads l s + chance M is_none heads l s) +
            (1 - q) * (chance M is_right tails l s + chance M is_wrong tails l s + chance M is_none tails l s)) by ring.
    rewrite IHh, IHt. ring.
Qed.

Definition closed_under_laws (M : noisy) (pairs : list (nat * nat)) : Prop :=
  forall s t, In (s, t) pairs ->
  match label_now M with None => True | Some f => f s <> f t end /\
  forall a s' i t' j, leads M s a = Some (s', i) -> leads M t a = Some (t', j) -> i = j /\ In (s', t') pairs.

Theorem right_is_at_most_wrong : forall M pairs, laws_are_laws M -> closed_under_laws M pairs ->
  forall o R l k s t, keeps_to M o R -> In (l, s) R -> In (k, t) R -> l <> k -> In (s, t) pairs ->
  chance M is_right o l s <= chance M is_wrong o k t.
Proof.
  intros M pairs HL Hcl o. induction o as [c|a next IH|q heads IHh tails IHt]; intros R l k s t Hk H1 H2 Hne Hin; simpl in *.
  - destruct c as [c|]; simpl; [|lra].
    destruct (Nat.eqb_spec c l), (Nat.eqb_spec c k); simpl; try lra. congruence.
  - destruct Hk as [Hall Hnext]. pose proof (Hall _ H1) as A1. pose proof (Hall _ H2) as A2. simpl in A1, A2.
    destruct (leads M s a) as [[s' i]|] eqn:E1; [|congruence]. destruct (leads M t a) as [[t' j]|] eqn:E2; [|congruence].
    destruct (Hcl s t Hin) as [_ H]. destruct (H _ _ _ _ _ E1 E2) as [Ei Hin']. subst j.
    apply sum_le. intros [y p] Hy. simpl. rewrite !(Qmult_comm p). apply Qmult_le_compat_r.
    + apply (IH y (remain M R a y)); auto; try (eapply in_remain; eassumption).
      unfold new_label. destruct (Hcl s' t' Hin') as [Hlab _]. destruct (label_now M); assumption.
    + destruct (HL i) as [Hp _]. specialize (Hp _ _ Hy). lra.
  - destruct Hk as [Hq [Hh Ht]]. specialize (IHh R l k s t Hh H1 H2 Hne Hin). specialize (IHt R l k s t Ht H1 H2 Hne Hin).
    apply Qplus_le_compat; [rewrite !(Qmult_comm q)|rewrite !(Qmult_comm (1 - q))]; apply Qmult_le_compat_r; lra.
Qed.

Corollary no_observer_within_the_risks : forall M pairs alpha beta,
  laws_are_laws M -> closed_under_laws M pairs -> 2 * alpha + beta < 1 ->
  forall R l k s t, In (l, s) R -> In (k, t) R -> l <> k -> In (s, t) pairs ->
  forall o, keeps_to M o R ->
  ~ forall m, In m R ->
      chance M is_wrong o (fst m) (snd m) <= alpha /\ chance M is_none o (fst m) (snd m) <= beta.
Proof.
  intros M pairs alpha beta HL Hcl Hrisk R l k s t H1 H2 Hne Hin o Hk H.
  pose proof (right_is_at_most_wrong M pairs HL Hcl o R l k s t Hk H1 H2 Hne Hin) as G.
  pose proof (chances_sum_to_1 M HL o R l s Hk H1) as E.
  destruct (H _ H1) as [W1 N1]. destruct (H _ H2) as [W2 _]. simpl in *. lra.
Qed.

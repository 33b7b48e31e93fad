(** The three numbers of a place bound what a controller does under noise, also where its nodes form circles.

    Claim: [within-risk] of docs/certificate-format.md, and through it [followed]; src/ascertain_check/claims/within_risk.py.

    Proved: let every place that can be reached have numbers that are at least what an ending is worth, or c(a) plus the sum over
    readings of probability times the numbers of the next place. Then for every n the probability of a wrong answer and of an
    abstention within n steps, and the mean cost of the first n steps, are at most these numbers ([values_bound]). The controller
    still asks after n steps with a probability of at most (number of the cost) / (n times the least cost of an action), so it
    ends with probability one ([controllers_end]). Numbers that are computed from the last node back are a case of this. *)

From Coq Require Import QArith List Lqa PeanoNat.
From Ascertain Require Import Sums Achieves Obstruction.
Import ListNotations.
Open Scope Q_scope.

Inductive controller_node :=
| Ends (k : option nat)                          (* an answer; [None] abstains *)
| Goes (a : nat) (next : list (nat * nat)).      (* by reading the next node; a reading without one is an abstention *)

Section Controller.
Variable M : noisy.
Hypothesis laws : laws_are_laws M.
Variable nodes : nat -> controller_node.

(** A place: node, label and state. *)
Definition place := (nat * nat * nat)%type.

(** What the place after the reading y is worth; [stop] is what an ending is worth, [more] what a place is. *)
Definition next_worth (stop : option nat -> nat -> Q) (more : place -> Q) (next : list (nat * nat)) (l s y : nat) : Q :=
  match find_child y next with None => stop None l | Some v => more (v, l, s) end.

(** What happens within n steps: [stop] at the ending, [price] at every action. *)
Fixpoint within (stop : option nat -> nat -> Q) (price : nat -> Q) (n : nat) (x : place) : Q :=
  let '(v, l, s) := x in
  match nodes v with
  | Ends k => stop k l
  | Goes a next =>
      match n, leads M s a with
      | S n, Some (s', i) =>
          price a + sum (fun yp => snd yp * next_worth stop (within stop price n) next (new_label M l s') s' (fst yp)) (law M i)
      | _, _ => 0
      end
  end.

Definition wrong_answer (k : option nat) (l : nat) : Q := if is_wrong k l then 1 else 0.
Definition no_answer (k : option nat) (l : nat) : Q := if is_none k l then 1 else 0.

(** The places that can be reached are closed, and allow what they ask. *)
Definition closed_places (X : place -> Prop) : Prop :=
  forall v l s, X (v, l, s) -> forall a next, nodes v = Goes a next ->
  exists s' i, leads M s a = Some (s', i) /\
    forall y p v', In (y, p) (law M i) -> find_child y next = Some v' -> X (v', new_label M l s', s').

(** The numbers that a claim lists. *)
Definition values (X : place -> Prop) (stop : option nat -> nat -> Q) (price : nat -> Q) (V : place -> Q) : Prop :=
  (forall x, 0 <= V x) /\
  forall v l s, X (v, l, s) ->
  match nodes v with
  | Ends k => stop k l <= V (v, l, s)
  | Goes a next =>
      forall s' i, leads M s a = Some (s', i) ->
      price a + sum (fun yp => snd yp * next_worth stop V next (new_label M l s') s' (fst yp)) (law M i) <= V (v, l, s)
  end.

Theorem values_bound : forall X stop price V, closed_places X -> values X stop price V ->
  forall n x, X x -> within stop price n x <= V x.
Proof.
  intros X stop price V HX [Hpos HV] n. induction n as [|n IH]; intros [[v l] s] Hx; simpl;
    specialize (HV v l s Hx); pose proof (HX v l s Hx) as Hcl; destruct (nodes v) as [k|a next]; try assumption.
  - apply Hpos.
  - destruct (Hcl a next eq_refl) as [s' [i [E Hnext]]]. specialize (HV s' i E). rewrite E.
    eapply Qle_trans; [|exact HV]. apply Qplus_le_compat; [apply Qle_refl|]. apply sum_le. intros [y p] Hy. simpl.
    destruct (laws i) as [Hp _]. specialize (Hp _ _ Hy). rewrite !(Qmult_comm p). apply Qmult_le_compat_r; [|lra].
    unfold next_worth. destruct (find_child y next) as [v'|] eqn:F; [|apply Qle_refl]. apply IH. exact (Hnext y p v' Hy F).
Qed.

(** The three numbers of the claim. *)
Corollary risks_and_cost : forall X (c : nat -> Q) W N C, closed_places X ->
  values X wrong_answer (fun _ => 0) W -> values X no_answer (fun _ => 0) N -> values X (fun _ _ => 0) c C ->
  forall x alpha beta limit, X x -> W x <= alpha -> N x <= beta -> C x <= limit ->
  forall n, within wrong_answer (fun _ => 0) n x <= alpha /\ within no_answer (fun _ => 0) n x <= beta /\
            within (fun _ _ => 0) c n x <= limit.
Proof.
  intros X c W N C HX HW HN HC x alpha beta limit Hx Ha Hb Hl n. repeat split; eapply Qle_trans.
  - exact (values_bound X _ _ W HX HW n x Hx).
  - exact Ha.
  - exact (values_bound X _ _ N HX HN n x Hx).
  - exact Hb.
  - exact (values_bound X _ _ C HX HC n x Hx).
  - exact Hl.
Qed.

(** The probability that n actions are asked and the controller goes on. *)
Fixpoint going (n : nat) (x : place) : Q :=
  let '(v, l, s) := x in
  match n, nodes v with
  | O, _ => 1
  | S n, Goes a next =>
      match leads M s a with
      | Some (s', i) =>
          sum (fun yp => snd yp * next_worth (fun _ _ => 0) (going n) next (new_label M l s') s' (fst yp)) (law M i)
      | None => 0
      end
  | _, _ => 0
  end.

Lemma going_is_a_probability : forall n x, 0 <= going n x <= 1.
Proof.
  induction n as [|n IH]; intros [[v l] s]; simpl; [lra|]. destruct (nodes v) as [k|a next]; [lra|].
  destruct (leads M s a) as [[s' i]|]; [|lra]. destruct (laws i) as [Hp H1].
  assert (B : forall y, 0 <= next_worth (fun _ _ => 0) (going n) next (new_label M l s') s' y <= 1).
  { intros y. unfold next_worth. destruct (find_child y next); [apply IH|lra]. }
  split.
  - apply sum_is_not_negative. intros [y p] Hy. simpl. specialize (Hp _ _ Hy). apply Qmult_le_0_compat; [lra|apply B].
  - rewrite <- H1. apply sum_le. intros [y p] Hy. simpl. specialize (Hp _ _ Hy). specialize (B y).
    setoid_replace p with (1 * p) at 2 by ring. rewrite (Qmult_comm p). apply Qmult_le_compat_r; lra.
Qed.

Theorem controllers_end : forall X c C least, closed_places X -> values X (fun _ _ => 0) c C ->
  0 <= least -> (forall a, least <= c a) ->
  forall n x, X x -> inject_Z (Z.of_nat n) * least * going n x <= C x.
Proof.
  intros X c C least HX [Hpos HC] Hleast Hc n. induction n as [|n IH]; intros [[v l] s] Hx.
  - assert (E : inject_Z (Z.of_nat 0) * least * going 0 (v, l, s) == 0) by (simpl; ring). rewrite E. apply Hpos.
  - simpl going. specialize (HC v l s Hx). pose proof (HX v l s Hx) as Hcl. destruct (nodes v) as [k|a next].
    + setoid_replace (inject_Z (Z.of_nat (S n)) * least * 0) with 0 by ring. apply Hpos.
    + destruct (Hcl a next eq_refl) as [s' [i [E Hnext]]]. specialize (HC s' i E). rewrite E.
      set (g := fun yp : nat * Q => snd yp * next_worth (fun _ _ => 0) (going n) next (new_label M l s') s' (fst yp)).
      assert (G1 : sum g (law M i) <= 1).
      { destruct (laws i) as [Hp H1]. rewrite <- H1. apply sum_le. intros [y p] Hy. unfold g. simpl. specialize (Hp _ _ Hy).
        setoid_replace p with (1 * p) at 2 by ring. rewrite (Qmult_comm p). apply Qmult_le_compat_r; [|lra].
        unfold next_worth. destruct (find_child y next); [apply going_is_a_probability|lra]. }
      assert (G2 : inject_Z (Z.of_nat n) * least * sum g (law M i) <=
                   sum (fun yp => snd yp * next_worth (fun _ _ => 0) C next (new_label M l s') s' (fst yp)) (law M i)).
      { rewrite <- sum_scale. apply sum_le. intros [y p] Hy. unfold g. simpl. destruct (laws i) as [Hp _]. specialize (Hp _ _ Hy).
        unfold next_worth. destruct (find_child y next) as [v'|] eqn:F.
        - specialize (IH (v', new_label M l s', s') (Hnext y p v' Hy F)).
          setoid_replace (inject_Z (Z.of_nat n) * least * (p * going n (v', new_label M l s', s')))
            with (inject_Z (Z.of_nat n) * least * going n (v', new_label M l s', s') * p) by ring.
          rewrite (Qmult_comm p). apply Qmult_le_compat_r; lra.
        - lra. }
      assert (G3 : least * sum g (law M i) <= least).
      { setoid_replace least with (least * 1) at 2 by ring. rewrite !(Qmult_comm least). apply Qmult_le_compat_r; assumption. }
      assert (S1 : inject_Z (Z.of_nat (S n)) == inject_Z (Z.of_nat n) + 1).
      { rewrite Nat2Z.inj_succ. unfold Z.succ. rewrite inject_Z_plus. reflexivity. }
      rewrite S1. specialize (Hc a). lra.
Qed.
End Controller.

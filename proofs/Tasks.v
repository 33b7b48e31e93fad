(** What the other files speak about: a machine, a question about it, and policies that settle it.

    Claim: none of its own. This file is the section "The task", with its *Meaning*, of docs/certificate-format.md, for
    models of kind "machine"; src/ascertain_check/task.py reads such tasks.

    Throughout: s is a state, a an action, y a reading, k and l are labels, all of them numbers. [step s a] is what is read
    and where a leads from s, [None] where a is not allowed ([output] and [successor] of the format). [current] is [None] in
    a question about the start; otherwise it gives the label of every state.

    A policy is a tree that asks and answers. It may depend on everything that was read, and every path of it is finite. It
    is as general as a policy without noise can be: one that ends for every hypothesis is such a tree on their transcripts. *)

From Coq Require Import QArith List Lia Lqa PeanoNat.
Import ListNotations.
Open Scope Q_scope.

Record task := {
  step : nat -> nat -> option (nat * nat);
  cost : nat -> Q;
  current : option (nat -> nat)
}.

Definition costs_are_not_negative (M : task) := forall a, 0 <= cost M a.

Inductive policy :=
| Answer (k : nat)
| Ask (a : nat) (next : nat -> policy).

(** The label of a hypothesis stays; about the current state it is that of the state reached. *)
Definition label_after (M : task) (l s : nat) : nat :=
  match current M with None => l | Some f => f s end.

(** R(a, y): what becomes of a set of pairs (label, state) when a is done and y is read. *)
Definition move (M : task) (a y : nat) (m : nat * nat) : list (nat * nat) :=
  match step M (snd m) a with
  | Some (y', s') => if Nat.eqb y' y then [(label_after M (fst m) s', s')] else []
  | None => []
  end.

Definition after (M : task) (R : list (nat * nat)) (a y : nat) : list (nat * nat) := flat_map (move M a y) R.

(** An action may be done only if all that may still be true allow it, and an answer must be right for all of them. *)
Fixpoint solves (M : task) (p : policy) (R : list (nat * nat)) : Prop :=
  match p with
  | Answer k => forall m, In m R -> fst m = k
  | Ask a next =>
      (forall m, In m R -> step M (snd m) a <> None) /\ forall y, solves M (next y) (after M R a y)
  end.

(** What a policy costs where the plant begins in s. *)
Fixpoint spent (M : task) (p : policy) (s : nat) : Q :=
  match p with
  | Answer _ => 0
  | Ask a next => match step M s a with Some (y, s') => cost M a + spent M (next y) s' | None => 0 end
  end.

(** A walk of one hypothesis: whatever is asked is allowed, and the answer is right. *)
Fixpoint right (M : task) (p : policy) (l s : nat) : Prop :=
  match p with
  | Answer k => l = k
  | Ask a next => match step M s a with Some (y, s') => right M (next y) (label_after M l s') s' | None => False end
  end.

(** About the current state the label of a pair is that of its state. *)
Definition well_labelled (M : task) (R : list (nat * nat)) :=
  match current M with None => True | Some f => forall m, In m R -> fst m = f (snd m) end.

Lemma in_after : forall M R a y l' s',
  In (l', s') (after M R a y) <->
  exists l s, In (l, s) R /\ step M s a = Some (y, s') /\ l' = label_after M l s'.
Proof.
  intros M R a y l' s'. unfold after. rewrite in_flat_map. split.
  - intros [[l s] [H1 H2]]. unfold move in H2. simpl in H2.
    destruct (step M s a) as [[y2 s2]|] eqn:E; [|contradiction].
    destruct (Nat.eqb_spec y2 y); [|contradiction]. destruct H2 as [H2|[]]. inversion H2; subst.
    exists l, s. auto.
  - intros [l [s [H1 [H2 H3]]]]. exists (l, s). split; [assumption|].
    unfold move. simpl. rewrite H2, Nat.eqb_refl. left. subst. reflexivity.
Qed.

Lemma well_labelled_after : forall M R a y, well_labelled M (after M R a y).
Proof.
  intros. unfold well_labelled. destruct (current M) as [f|] eqn:E; [|exact I].
  intros [l s] H. apply in_after in H. destruct H as [? [? [_ [_ H]]]]. subst.
  unfold label_after. rewrite E. reflexivity.
Qed.

(** A condition on sets of hypotheses, but no set needs to be followed: each hypothesis has a walk of its own. *)
Theorem solves_by_walks : forall M p R,
  solves M p R <-> forall l s, In (l, s) R -> right M p l s.
Proof.
  intros M p. induction p as [k|a next IH]; intros R; simpl.
  - split; [intros H l s Hin; exact (H _ Hin)|intros H [l s] Hin; exact (H _ _ Hin)].
  - split.
    + intros [H1 H2] l s Hin. specialize (H1 _ Hin). simpl in H1.
      destruct (step M s a) as [[y s']|] eqn:E; [|congruence].
      apply (IH y (after M R a y)); [apply H2|]. apply in_after. exists l, s. auto.
    + intros H. split.
      * intros [l s] Hin. specialize (H _ _ Hin). simpl. destruct (step M s a); congruence.
      * intros y. apply IH. intros l' s' Hin. apply in_after in Hin.
        destruct Hin as [l [s [H1 [H2 H3]]]]. specialize (H _ _ H1). rewrite H2 in H. subst. exact H.
Qed.

Lemma spent_is_not_negative : forall M, costs_are_not_negative M -> forall p s, 0 <= spent M p s.
Proof.
  intros M HM p. induction p as [k|a next IH]; intros s; simpl; [lra|].
  destruct (step M s a) as [[y s']|]; [|lra]. specialize (IH y s'). specialize (HM a). lra.
Qed.

(** Members in one state have one transcript, so they get one answer. *)
Lemma one_state_one_label : forall M p l k s, right M p l s -> right M p k s -> label_after M l s = l ->
  label_after M k s = k -> l = k.
Proof.
  intros M p l k s H1 H2 H3 H4. unfold label_after in *.
  destruct (current M) as [f|] eqn:E; [congruence|]. clear H3 H4.
  revert s H1 H2. induction p as [j|a next IH]; intros s H1 H2; simpl in *; [congruence|].
  destruct (step M s a) as [[y s']|]; [|contradiction]. unfold label_after in *. rewrite E in *. eauto.
Qed.

(** A partition whose classes are all told apart by splits is the coarsest stable one.

    Claim: [quotient] of docs/certificate-format.md; src/ascertain_check/claims/quotient.py. That a policy does on the classes of a stable
    partition what it does on states is [Lower.quotient_keeps_policies].

    Proved: let [block] be stable, and let splits of its classes, each by what one action does in one part, end in parts of one class
    each. Then states that any stable relation puts together are in one class ([coarsest]). A behaviour is a reading on a machine and the
    number of a law on a noisy machine. *)

From Coq Require Import List PeanoNat.
Import ListNotations.

(** What an action does in a state: its behaviour and its successor; [None]: not allowed. *)
Record table := {
  does : nat -> nat -> option (nat * nat);
  label_here : option (nat -> nat)     (* about the current state: the label of every state *)
}.

Definition same_label (M : table) (s t : nat) : Prop := match label_here M with None => True | Some f => f s = f t end.

(** Related states have one label, behave alike, and are led to related states. *)
Definition is_stable (M : table) (E : nat -> nat -> Prop) : Prop :=
  forall s t, E s t -> same_label M s t /\
  forall a, match does M s a, does M t a with
            | Some (b, s'), Some (c, t') => b = c /\ E s' t'
            | None, None => True
            | _, _ => False
            end.

(** N is the table of the classes. *)
Definition is_quotient (M N : table) (block : nat -> nat) : Prop :=
  (forall s a, does N (block s) a = match does M s a with Some (b, s') => Some (b, block s') | None => None end) /\
  match label_here M, label_here N with
  | None, None => True
  | Some f, Some g => forall s, g (block s) = f s
  | _, _ => False
  end.

(** What an action does in a class, up to the parts. *)
Definition key (N : table) (part : nat -> nat) (a c : nat) : option (nat * nat) :=
  match does N c a with Some (b, d) => Some (b, part d) | None => None end.

(** Part p is divided by what a does there; how the new parts are numbered does not matter. *)
Definition divides (N : table) (part part' : nat -> nat) (p a : nat) : Prop :=
  forall c d, part c = part d -> (part c = p -> key N part a c = key N part a d) -> part' c = part' d.

Inductive split_into (N : table) : (nat -> nat) -> Prop :=
| first_parts : forall part, (forall c d, same_label N c d -> part c = part d) -> split_into N part
| next_parts : forall part part' p a, split_into N part -> divides N part part' p a -> split_into N part'.

Lemma related_stay_together : forall M N block E, is_quotient M N block -> is_stable M E ->
  forall part, split_into N part -> forall s t, E s t -> part (block s) = part (block t).
Proof.
  intros M N block E [Hq Hl] HE part H. induction H as [part H|part part' p a _ IH H]; intros s t Hst.
  - apply H. destruct (HE s t Hst) as [Hs _]. unfold same_label in *.
    destruct (label_here M), (label_here N); try contradiction; [rewrite !Hl; exact Hs|exact I].
  - apply H; [apply IH, Hst|]. intros _. destruct (HE s t Hst) as [_ Ha]. specialize (Ha a). unfold key. rewrite !Hq.
    destruct (does M s a) as [[b s']|], (does M t a) as [[c t']|]; try contradiction; [|reflexivity].
    destruct Ha as [Eb He]. subst. rewrite (IH s' t' He). reflexivity.
Qed.

Theorem coarsest : forall M N block E part, is_quotient M N block -> is_stable M E -> split_into N part ->
  (forall s t, part (block s) = part (block t) -> block s = block t) ->
  forall s t, E s t -> block s = block t.
Proof. intros M N block E part Hq HE Hp Hone s t Hst. apply Hone. exact (related_stay_together M N block E Hq HE part Hp s t Hst). Qed.

(** And the classes are such a relation. *)
Theorem classes_are_stable : forall M N block, is_quotient M N block -> is_stable M (fun s t => block s = block t).
Proof.
  intros M N block [Hq Hl] s t Hst. split.
  - unfold same_label. destruct (label_here M), (label_here N); try contradiction; [|exact I]. rewrite <- !Hl, Hst. reflexivity.
  - intros a. pose proof (Hq s a) as H1. pose proof (Hq t a) as H2. rewrite Hst, H2 in H1.
    destruct (does M s a) as [[b s']|], (does M t a) as [[c t']|]; try discriminate; [|exact I].
    injection H1 as E1 E2. split; congruence.
Qed.

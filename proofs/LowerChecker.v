(** A checker of the claim [lower].

    Claim: [lower] of docs/certificate-format.md, with [block]; a twin of src/ascertain_check/claims/lower.py, which is run beside
    it (tests/test_proofs.py). It works on lists as the files have them; that files are JSON, and numbers in
    lowest terms, is left to whoever reads them.

    Proved: in [LowerCheckerProof.v], that what it accepts is true. *)

From Coq Require Import QArith List PeanoNat Bool.
From Ascertain Require Import Tasks Lower.
Import ListNotations.
Open Scope Q_scope.

Definition pairs := list (nat * nat).

(** ** What is read *)

Record table_task := {
  num_labels : nat;
  num_readings : nat;
  table : list (list (option (nat * nat)));  (* by state and action: reading and successor *)
  costs : list Q;
  hypotheses : pairs;                        (* (label, state) *)
  now : option (list nat)                    (* about the current state: the label of every state *)
}.

Record table_row := {
  set : pairs;
  set_bound : bound;
  named : list (nat * (nat * nat))           (* action, reading, row *)
}.

Record claim := {
  claimed : bound;
  root : option nat;
  table_rows : list table_row;
  block : list nat                           (* by state; each its own class where the claim has no block *)
}.

(** ** What it means *)

Definition lookup (rows : list (list (option (nat * nat)))) (s a : nat) : option (nat * nat) :=
  match nth_error rows s with
  | Some row => match nth_error row a with Some entry => entry | None => None end
  | None => None
  end.

Definition label_list (labels : option (list nat)) : option (nat -> nat) :=
  match labels with Some ls => Some (fun s => nth s ls 0%nat) | None => None end.

Definition task_of (T : table_task) : task :=
  {| step := lookup (table T); cost := fun a => nth a (costs T) 0; current := label_list (now T) |}.

(** The class of a state; what is no state is in a class that is none. *)
Definition class_of (C : claim) (s : nat) : nat := nth s (block C) (length (block C)).

Fixpoint first_of (c : nat) (block : list nat) (s : nat) : option nat :=
  match block with
  | [] => None
  | c' :: rest => if Nat.eqb c' c then Some s else first_of c rest (S s)
  end.

(** The machine of the classes: a class does what its first state does. *)
Definition quotient_of (T : table_task) (C : claim) : task :=
  {| step := fun c a =>
       match first_of c (block C) 0 with
       | Some s => match lookup (table T) s a with Some (y, s') => Some (y, class_of C s') | None => None end
       | None => None
       end;
     cost := fun a => nth a (costs T) 0;
     current := match now T with
                | Some ls => Some (fun c => match first_of c (block C) 0 with Some s => nth s ls 0%nat | None => 0%nat end)
                | None => None
                end |}.

(** ** The checker *)

Definition same_entry (x y : option (nat * nat)) : bool :=
  match x, y with
  | None, None => true
  | Some (a, b), Some (c, d) => Nat.eqb a c && Nat.eqb b d
  | _, _ => false
  end.

Definition same_pair (m n : nat * nat) : bool := Nat.eqb (fst m) (fst n) && Nat.eqb (snd m) (snd n).
Definition has (R : pairs) (m : nat * nat) : bool := existsb (same_pair m) R.

Fixpoint no_pair_twice (R : pairs) : bool :=
  match R with [] => true | m :: rest => negb (has rest m) && no_pair_twice rest end.

Definition below (n : nat) (i : nat) : bool := Nat.ltb i n.

Definition well_labelled_b (M : task) (R : pairs) : bool :=
  match current M with None => true | Some f => forallb (fun m => Nat.eqb (fst m) (f (snd m))) R end.

(** The task is what the format says of it. *)
Definition task_is_sound (T : table_task) : bool :=
  let n := length (table T) in
  forallb (fun row => Nat.eqb (length row) (length (costs T))) (table T) &&
  forallb (forallb (fun e => match e with Some (y, s) => below (num_readings T) y && below n s | None => true end)) (table T) &&
  forallb (fun c => negb (Qle_bool c 0)) (costs T) &&
  negb (match hypotheses T with [] => true | _ => false end) &&
  forallb (fun m => below (num_labels T) (fst m) && below n (snd m)) (hypotheses T) &&
  no_pair_twice (hypotheses T) &&
  match now T with None => true | Some ls => Nat.eqb (length ls) n && forallb (below (num_labels T)) ls end &&
  well_labelled_b (task_of T) (hypotheses T).

(** The partition is one, and stable. *)
Definition block_is_stable (T : table_task) (C : claim) : bool :=
  Nat.eqb (length (block C)) (length (table T)) &&
  forallb (below (length (block C))) (block C) &&
  forallb (fun s =>
    forallb (fun a => same_entry (step (quotient_of T C) (class_of C s) a)
                        (match lookup (table T) s a with Some (y, s') => Some (y, class_of C s') | None => None end))
      (seq 0 (length (costs T))) &&
    match current (task_of T), current (quotient_of T C) with
    | Some f, Some g => Nat.eqb (g (class_of C s)) (f s)
    | _, _ => true
    end) (seq 0 (length (table T))).

(** Classes are numbered without gaps; how many there are. *)
Definition num_classes (C : claim) : nat := length (nodup Nat.eq_dec (block C)).
Definition no_gaps (C : claim) : bool := forallb (below (num_classes C)) (block C).

Definition labels_at (W : pairs) (s : nat) : list nat :=
  nodup Nat.eq_dec (map fst (filter (fun m => Nat.eqb (snd m) s) W)).

Definition subset (W R : pairs) : bool := forallb (has W) R.

(** R is one state with m labels, and W holds that state with at least m. *)
Definition one_state_cover (W R : pairs) : bool :=
  match R with
  | [] => false
  | (_, s) :: _ => forallb (fun m => Nat.eqb (snd m) s) R && Nat.leb (length R) (length (labels_at W s))
  end.

(** Every state of R has one label in W, and the map from that to the label in R is a function. *)
Definition functional_cover (W R : pairs) : bool :=
  forallb (fun m => Nat.eqb (length (labels_at W (snd m))) 1) R &&
  forallb (fun m => forallb (fun n =>
    negb (Nat.eqb (hd 0%nat (labels_at W (snd m))) (hd 0%nat (labels_at W (snd n)))) || Nat.eqb (fst m) (fst n)) R) R.

Definition covers (W R : pairs) : bool := subset W R || one_state_cover W R || functional_cover W R.

Definition reaches_b (b' b : bound) (c : Q) : bool :=
  match b', b with
  | None, _ => true
  | Some _, None => false
  | Some q', Some q => Qle_bool (q - c) q'
  end.

Definition two_labels_b (R : pairs) : bool := existsb (fun m => existsb (fun n => negb (Nat.eqb (fst m) (fst n))) R) R.

Definition share_a_state_b (R : pairs) : bool :=
  existsb (fun m => existsb (fun n => Nat.eqb (snd m) (snd n) && negb (Nat.eqb (fst m) (fst n))) R) R.

Definition all_allow_b (N : task) (R : pairs) (a : nat) : bool :=
  forallb (fun m => match step N (snd m) a with Some _ => true | None => false end) R.

Fixpoint find_move (a : nat) (moves : list (nat * (nat * nat))) : option (nat * nat) :=
  match moves with
  | [] => None
  | (a', yi) :: rest => if Nat.eqb a' a then Some yi else find_move a rest
  end.

(** The readings that an action gives, and the ways of [leaves]: its number of readings and its cost, if there are two. *)
Definition readings_of (T : table_task) (a : nat) : list nat :=
  nodup Nat.eq_dec
    (flat_map (fun s => match lookup (table T) s a with Some (y, _) => [y] | None => [] end) (seq 0 (length (table T)))).

Definition ways_of (T : table_task) : list (nat * Q) :=
  filter (fun w => Nat.leb 2 (fst w))
    (map (fun a => (length (readings_of T a), nth a (costs T) 0)) (seq 0 (length (costs T)))).

(** In a question about the start, some reading leaves so many labels that they cost enough. *)
Definition labels_are_enough (T : table_task) (N : task) (r : table_row) (a : nat) : bool :=
  match current N with
  | Some _ => false
  | None =>
      existsb (fun y =>
        let n := count_labels (after N (set r) a y) in
        Nat.ltb 0 n && reaches_b (leaves (ways_of T) n) (set_bound r) (cost N a)) (seq 0 (num_readings T))
  end.

(** Condition 2 for one action. *)
Definition move_is_sound (T : table_task) (N : task) (rows : list table_row) (r : table_row) (a : nat) : bool :=
  negb (all_allow_b N (set r) a) ||
  match set_bound r with Some q => Qle_bool q (cost N a) | None => false end ||
  match find_move a (named r) with
  | Some (y, i) =>
      match nth_error rows i with
      | Some r' => covers (after N (set r) a y) (set r') && reaches_b (set_bound r') (set_bound r) (cost N a)
      | None => false
      end
  | None => labels_are_enough T N r a
  end.

(** Indices are in range, and no member stands twice. *)
Definition row_is_well_formed (T : table_task) (C : claim) (r : table_row) : bool :=
  forallb (fun m => below (num_labels T) (fst m) && below (num_classes C) (snd m)) (set r) &&
  no_pair_twice (set r) &&
  forallb (fun v => below (length (costs T)) (fst v) && below (num_readings T) (fst (snd v)) &&
                    below (length (table_rows C)) (snd (snd v))) (named r).

Definition row_is_sound (T : table_task) (C : claim) (r : table_row) : bool :=
  let N := quotient_of T C in
  row_is_well_formed T C r && well_labelled_b N (set r) && two_labels_b (set r) &&
  (share_a_state_b (set r) || forallb (move_is_sound T N (table_rows C) r) (seq 0 (length (costs T)))).

Definition root_is_sound (T : table_task) (C : claim) : bool :=
  match root C with
  | None => match claimed C with Some q => Qeq_bool q 0 | None => false end
  | Some i =>
      match nth_error (table_rows C) i with
      | Some r => covers (classes (class_of C) (hypotheses T)) (set r) && reaches_b (set_bound r) (claimed C) 0
      | None => false
      end
  end.

Definition check (T : table_task) (C : claim) : bool :=
  task_is_sound T && block_is_stable T C && no_gaps C &&
  forallb (row_is_sound T C) (table_rows C) && root_is_sound T C.

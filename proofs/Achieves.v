(** Replaying a policy, one hypothesis at a time, gives its cost and shows that it settles the question.

    Claims: [achieves] and [achieves-expected] of docs/certificate-format.md; src/ascertain_check/claims/achieves.py.

    Proved: if the walk of every hypothesis through the nodes ends in the right answer, and costs what [walk] says, then the
    tree that the nodes unfold to settles the question in the sense of [Tasks.v] (only actions that all remaining hypotheses
    allow, right answers for all of them), at just these costs. Walks end where children come after their parents. With
    [lower] or [lower-expected] of the same cost the policy is optimal. *)

From Coq Require Import QArith List Lia Lqa PeanoNat.
From Ascertain Require Import Sums Tasks Lower LowerExpected.
Import ListNotations.
Open Scope Q_scope.

Inductive node :=
| Answers (k : nat)
| Asks (a : nat) (next : list (nat * nat)).  (* by reading the number of the next node *)

Fixpoint find_child (y : nat) (next : list (nat * nat)) : option nat :=
  match next with
  | [] => None
  | (y', v) :: rest => if Nat.eqb y' y then Some v else find_child y rest
  end.

(** What hypothesis (l, s) costs from node v on; [None] where it is refuted, or [fuel] steps are not enough. *)
Fixpoint walk (M : task) (nodes : list node) (fuel v l s : nat) : option Q :=
  match fuel with
  | O => None
  | S fuel =>
      match nth_error nodes v with
      | None => None
      | Some (Answers k) => if Nat.eqb l k then Some 0 else None
      | Some (Asks a next) =>
          match step M s a with
          | None => None
          | Some (y, s') =>
              match find_child y next with
              | None => None
              | Some v' =>
                  match walk M nodes fuel v' (label_after M l s') s' with
                  | None => None
                  | Some c => Some (cost M a + c)
                  end
              end
          end
      end
  end.

(** The tree that the nodes unfold to. What a walk never meets does not matter and is some answer. *)
Fixpoint unfold_nodes (nodes : list node) (fuel v : nat) : policy :=
  match fuel with
  | O => Answer 0
  | S fuel =>
      match nth_error nodes v with
      | None => Answer 0
      | Some (Answers k) => Answer k
      | Some (Asks a next) =>
          Ask a (fun y => match find_child y next with None => Answer 0 | Some v' => unfold_nodes nodes fuel v' end)
      end
  end.

Lemma walk_is_right : forall M nodes fuel v l s c, walk M nodes fuel v l s = Some c ->
  right M (unfold_nodes nodes fuel v) l s /\ spent M (unfold_nodes nodes fuel v) s = c.
Proof.
  intros M nodes fuel. induction fuel as [|fuel IH]; intros v l s c H; simpl in *; [discriminate|].
  destruct (nth_error nodes v) as [[k|a next]|]; [| |discriminate].
  - destruct (Nat.eqb_spec l k); [|discriminate]. inversion H; subst. simpl. auto.
  - simpl. destruct (step M s a) as [[y s']|]; [|discriminate].
    destruct (find_child y next) as [v'|]; [|discriminate].
    destruct (walk M nodes fuel v' (label_after M l s') s') as [c'|] eqn:E; [|discriminate].
    inversion H; subst. destruct (IH _ _ _ _ E) as [H1 H2]. split; [assumption|]. rewrite H2. reflexivity.
Qed.

(** Children come after their parents. *)
Definition ordered (nodes : list node) : Prop :=
  forall v a next y v', nth_error nodes v = Some (Asks a next) -> find_child y next = Some v' -> (v < v')%nat.

(** Then a walk ends: more steps than there are nodes left change nothing. *)
Theorem walks_end : forall M nodes, ordered nodes -> forall fuel fuel' v l s,
  (length nodes < fuel + v)%nat -> (length nodes < fuel' + v)%nat ->
  walk M nodes fuel v l s = walk M nodes fuel' v l s.
Proof.
  intros M nodes Hord fuel. induction fuel as [|fuel IH]; intros fuel' v l s H1 H2.
  - destruct fuel' as [|fuel']; [reflexivity|]. simpl.
    rewrite (proj2 (nth_error_None nodes v)); [reflexivity|lia].
  - destruct fuel' as [|fuel']; simpl.
    + rewrite (proj2 (nth_error_None nodes v)); [reflexivity|lia].
    + destruct (nth_error nodes v) as [[k|a next]|] eqn:E; auto.
      destruct (step M s a) as [[y s']|]; auto. destruct (find_child y next) as [v'|] eqn:F; auto.
      pose proof (Hord _ _ _ _ _ E F). rewrite (IH fuel' v'); [reflexivity|lia|lia].
Qed.

(** The policy of a claim begins at node 0. *)
Definition tree_of (nodes : list node) : policy := unfold_nodes nodes (S (length nodes)) 0.
Definition walk_of (M : task) (nodes : list node) (l s : nat) : option Q := walk M nodes (S (length nodes)) 0 l s.

Theorem achieves : forall M nodes H limit,
  (forall l s, In (l, s) H -> exists c, walk_of M nodes l s = Some c /\ c <= limit) ->
  solves M (tree_of nodes) H /\ forall l s, In (l, s) H -> spent M (tree_of nodes) s <= limit.
Proof.
  intros M nodes H limit Hw. split.
  - apply solves_by_walks. intros l s Hin. destruct (Hw _ _ Hin) as [c [E _]]. apply (walk_is_right _ _ _ _ _ _ _ E).
  - intros l s Hin. destruct (Hw _ _ Hin) as [c [E Hle]]. unfold tree_of.
    rewrite (proj2 (walk_is_right _ _ _ _ _ _ _ E)). exact Hle.
Qed.

Theorem achieves_expected : forall M nodes (H : weighted) (costs : nat * nat -> Q),
  (forall l s w, In ((l, s), w) H -> walk_of M nodes l s = Some (costs (l, s))) ->
  solves M (tree_of nodes) (support H) /\ mean M (tree_of nodes) H == sum (fun m => snd m * costs (fst m)) H.
Proof.
  intros M nodes H costs Hw. split.
  - apply solves_by_walks. intros l s Hin. apply in_map_iff in Hin. destruct Hin as [[m w] [E Hin]]. simpl in E. subst m.
    apply (walk_is_right _ _ _ _ _ _ _ (Hw _ _ _ Hin)).
  - unfold mean. apply sum_ext. intros [[l s] w] Hin. simpl. unfold tree_of.
    rewrite (proj2 (walk_is_right _ _ _ _ _ _ _ (Hw _ _ _ Hin))). reflexivity.
Qed.

(** Two claims, [achieves] C and [lower] C, together state that the optimum is C. *)
Corollary optimal : forall M nodes rows H r C,
  costs_are_not_negative M -> well_labelled M H ->
  (forall l s, In (l, s) H -> exists c, walk_of M nodes l s = Some c /\ c <= C) ->
  (forall r', In r' rows -> consistent M rows r') ->
  In r rows -> covered M H (members r) -> reaches (worth r) (Some C) 0 ->
  (solves M (tree_of nodes) H /\ forall l s, In (l, s) H -> spent M (tree_of nodes) s <= C) /\
  forall p, solves M p H -> exists m, In m H /\ C <= spent M p (snd m).
Proof.
  intros M nodes rows H r C HM HH Hw Hrows Hr Hc Hb. split; [apply achieves, Hw|].
  intros p Hs. exact (lower_bound M rows H r (Some C) HM HH Hrows Hr Hc Hb p Hs).
Qed.

(** [achieves-expected] and [lower-expected]: the least mean. *)
Corollary optimal_mean : forall M nodes rows (H : weighted) costs parts q C,
  costs_are_not_negative M -> well_labelled M (support H) -> (forall m, In m H -> 0 <= snd m) ->
  (forall l s w, In ((l, s), w) H -> walk_of M nodes l s = Some (costs (l, s))) ->
  sum (fun m => snd m * costs (fst m)) H <= C * size H ->
  (forall r, In r rows -> consistent_row M rows r) ->
  holds M rows H parts -> total rows parts = Some q -> C * size H <= q ->
  (solves M (tree_of nodes) (support H) /\ mean M (tree_of nodes) H <= C * size H) /\
  forall p, solves M p (support H) -> C * size H <= mean M p H.
Proof.
  intros M nodes rows H costs parts q C HM HH Hpos Hw Hle Hrows Hh Ht Hc. split.
  - destruct (achieves_expected M nodes H costs Hw) as [H1 H2]. split; [assumption|]. rewrite H2. exact Hle.
  - exact (no_lower_mean M rows H parts q C HM Hpos HH Hrows Hh Ht Hc).
Qed.

(** Weighted rows that bound one another prove that no policy has a lower mean cost.

    Claim: [lower-expected] of docs/certificate-format.md; src/ascertain_check/claims/lower_expected.py.

    Proved: if every row satisfies conditions 1 and 2 of the format, and the weighted hypotheses hold the parts of the claim,
    then for every policy that settles the question the sum over hypotheses of weight times cost is at least the sum of
    TIMES times bound over these parts. So the mean is at least [cost] where that sum is at least [cost] times the sum of
    the weights; and if one of these bounds is infinite there is no such policy. For [block] see [Lower.v]. *)

From Coq Require Import QArith List Lqa PeanoNat.
From Ascertain Require Import Sums Tasks Lower.
Import ListNotations.
Open Scope Q_scope.

(** Members (label, state) with their weights. One that stands twice has the sum of both weights. *)
Definition weighted := list ((nat * nat) * Q).
Definition part := (nat * Q)%type.  (* the number of a row, and how many times it is taken *)

Record weighted_row := {
  entries : weighted;
  value : bound;
  named : nat -> list (nat * part)  (* for an action parts, each for a reading *)
}.

Definition support (R : weighted) : list (nat * nat) := map fst R.
Definition size (R : weighted) : Q := sum snd R.

(** The weight that R has in state z, summed over labels. *)
Definition weight_in (z : nat) (R : weighted) : Q := sum (fun m => if Nat.eq_dec (snd (fst m)) z then snd m else 0) R.

(** R(a, y): weights go with their members. *)
Definition weighted_after (M : task) (R : weighted) (a y : nat) : weighted :=
  flat_map (fun m => map (fun n => (n, snd m)) (move M a y (fst m))) R.

Definition nothing : weighted_row := {| entries := []; value := Some 0; named := fun _ => [] |}.
Definition row_of (rows : list weighted_row) (i : nat) : weighted_row := nth i rows nothing.

(** W holds these parts: each is covered, and together they weigh no more than there is in any state. *)
Definition holds (M : task) (rows : list weighted_row) (W : weighted) (parts : list part) : Prop :=
  (forall i t, In (i, t) parts -> 0 <= t /\ (i < length rows)%nat /\
     covered M (support W) (support (entries (row_of rows i)))) /\
  forall z, sum (fun p => snd p * weight_in z (entries (row_of rows (fst p)))) parts <= weight_in z W.

(** The sum of t times bound over parts; infinite where one of the bounds is. *)
Fixpoint total (rows : list weighted_row) (parts : list part) : bound :=
  match parts with
  | [] => Some 0
  | (i, t) :: rest =>
      match value (row_of rows i), total rows rest with Some b, Some q => Some (t * b + q) | _, _ => None end
  end.

Definition parts_for (y : nat) (parts : list (nat * part)) : list part :=
  map snd (filter (fun p => Nat.eqb (fst p) y) parts).

(** Conditions 1 and 2 for one row. *)
Definition consistent_row (M : task) (rows : list weighted_row) (r : weighted_row) : Prop :=
  let R := entries r in
  (forall m, In m R -> 0 <= snd m) /\
  well_labelled M (support R) /\
  two_labels (support R) /\
  (share_a_state (support R) \/
   forall a, all_allow M (support R) a ->
     (forall y, holds M rows (weighted_after M R a y) (parts_for y (named r a))) /\
     match total rows (map snd (named r a)) with
     | None => True
     | Some q => exists b, value r = Some b /\ b <= cost M a * size R + q
     end).

(** What a policy costs on R: the sum over members of weight times cost. *)
Definition mean (M : task) (p : policy) (R : weighted) : Q := sum (fun m => snd m * spent M p (snd (fst m))) R.

Lemma support_after : forall M R a y, support (weighted_after M R a y) = after M (support R) a y.
Proof.
  intros. unfold support, weighted_after, after. induction R as [|[m w] R IH]; simpl; [reflexivity|].
  rewrite map_app, IH, map_map. f_equal. simpl. apply map_id.
Qed.

(** What a step of all members of R leads to, by reading and state. *)
Definition steps (M : task) (R : weighted) (a : nat) : list ((nat * nat) * Q) :=
  flat_map (fun m => match step M (snd (fst m)) a with Some ys => [(ys, snd m)] | None => [] end) R.

Definition pieces (rows : list weighted_row) (parts : list (nat * part)) : list ((nat * nat) * Q) :=
  flat_map (fun p => map (fun m => ((fst p, snd (fst m)), snd (snd p) * snd m)) (entries (row_of rows (fst (snd p))))) parts.

Definition same_pair (x y : nat * nat) : {x = y} + {x <> y}.
Proof. decide equality; apply Nat.eq_dec. Qed.

Lemma weight_of_steps : forall M R a y z, weight_at same_pair (y, z) (steps M R a) == weight_in z (weighted_after M R a y).
Proof.
  intros. unfold weight_at, steps, weight_in, weighted_after. rewrite !sum_flat_map. apply sum_ext.
  intros [[l s] w] _. unfold move. simpl. destruct (step M s a) as [[y' s']|]; simpl; [|reflexivity].
  destruct (same_pair (y', s') (y, z)) as [E|E].
  - inversion E; subst. rewrite Nat.eqb_refl. simpl. destruct (Nat.eq_dec z z); [reflexivity|congruence].
  - destruct (Nat.eqb_spec y' y); simpl; [|reflexivity]. subst.
    destruct (Nat.eq_dec s' z); [subst; congruence|reflexivity].
Qed.

Lemma weight_of_pieces : forall rows parts y z,
  weight_at same_pair (y, z) (pieces rows parts) ==
  sum (fun p => snd p * weight_in z (entries (row_of rows (fst p)))) (parts_for y parts).
Proof.
  intros. unfold weight_at, pieces, parts_for. rewrite sum_flat_map, sum_map, sum_filter. apply sum_ext.
  intros [y' [i t]] _. simpl. rewrite sum_map. simpl. destruct (Nat.eqb_spec y' y) as [E|E].
  - subst. unfold weight_in. rewrite <- sum_scale. apply sum_ext. intros [[l s] w] _. simpl.
    destruct (same_pair (y, s) (y, z)) as [F|F], (Nat.eq_dec s z); try reflexivity; [congruence|subst; congruence|ring].
  - rewrite <- (sum_zero (entries (row_of rows i))). apply sum_ext. intros [[l s] w] _. simpl.
    destruct (same_pair (y', s) (y, z)); [congruence|reflexivity].
Qed.

Lemma mean_of_a_step : forall M a next R, all_allow M (support R) a ->
  mean M (Ask a next) R ==
  cost M a * size R + sum (fun m => snd m * spent M (next (fst (fst m))) (snd (fst m))) (steps M R a).
Proof.
  intros M a next R H. unfold mean, size, steps. rewrite sum_flat_map, <- sum_scale, <- sum_plus. apply sum_ext.
  intros [[l s] w] Hin. simpl. assert (G : step M s a <> None).
  { apply (H (l, s)). unfold support. apply in_map_iff. exists ((l, s), w). auto. }
  destruct (step M s a) as [[y s']|]; [|congruence]. simpl. ring.
Qed.

Lemma total_bounded : forall (X : Type) (part_of : X -> part) rows (L : list X) (g : X -> Q),
  (forall x, In x L -> exists b, value (row_of rows (fst (part_of x))) = Some b /\ snd (part_of x) * b <= g x) ->
  exists q, total rows (map part_of L) = Some q /\ q <= sum g L.
Proof.
  intros X part_of rows L g. induction L as [|x rest IH]; intros H; simpl.
  - exists 0. split; [reflexivity|lra].
  - destruct IH as [q [H1 H2]]; [intros; apply H; right; assumption|].
    destruct (H x (or_introl eq_refl)) as [b [H3 H4]]. destruct (part_of x) as [i t]. simpl in *. rewrite H3, H1.
    exists (t * b + q). split; [reflexivity|]. apply Qplus_le_compat; assumption.
Qed.

Theorem weighted_rows_bound_means : forall M rows,
  costs_are_not_negative M ->
  (forall r, In r rows -> consistent_row M rows r) ->
  forall p W r, In r rows -> well_labelled M W -> covered M W (support (entries r)) -> solves M p W ->
  exists b, value r = Some b /\ b <= mean M p (entries r).
Proof.
  intros M rows HM Hrows p. induction p as [k|a next IH]; intros W r Hr HW Hcov Hs;
    destruct (Hrows r Hr) as [Hpos [Hl [Htwo Hmoves]]]; [exfalso; exact (one_answer _ _ _ _ Hcov Hs Htwo)|].
  destruct Hmoves as [Hshare|Hmoves]; [exfalso; exact (no_shared_state _ _ _ _ HW Hcov Hs Hshare)|].
  destruct Hs as [Hallow Hnext].
  assert (Hall : all_allow M (support (entries r)) a).
  { intros [k s] Hin. destruct (covered_state _ _ _ _ _ Hcov Hin) as [l Hin2]. apply (Hallow _ Hin2). }
  destruct (Hmoves a Hall) as [Hholds Htotal].
  assert (Hparts : forall y i t, In (y, (i, t)) (named r a) -> 0 <= t /\
            exists b, value (row_of rows i) = Some b /\ b <= mean M (next y) (entries (row_of rows i))).
  { intros y i t Hin. assert (Hin' : In (i, t) (parts_for y (named r a))).
    { unfold parts_for. apply in_map_iff. exists (y, (i, t)). split; [reflexivity|].
      apply filter_In. split; [assumption|]. simpl. apply Nat.eqb_refl. }
    destruct (Hholds y) as [Hh _]. destruct (Hh _ _ Hin') as [Ht [Hi Hc]]. split; [assumption|].
    rewrite support_after in Hc. apply (IH y (after M W a y)).
    - apply nth_In. exact Hi.
    - apply well_labelled_after.
    - eapply covered_trans; [|exact Hc]. apply covered_after, Hcov.
    - apply Hnext. }
  destruct (total_bounded _ snd rows (named r a)
              (fun p => snd (snd p) * mean M (next (fst p)) (entries (row_of rows (fst (snd p)))))) as [q [Hq Hle]].
  { intros [y [i t]] Hin. destruct (Hparts y i t Hin) as [Ht [b [Hb Hle]]]. simpl. exists b.
    split; [assumption|]. rewrite (Qmult_comm t b), (Qmult_comm t). apply Qmult_le_compat_r; assumption. }
  rewrite Hq in Htotal. destruct Htotal as [b [Hb Hle2]]. exists b. split; [assumption|].
  rewrite (mean_of_a_step M a next (entries r) Hall).
  assert (Hdom : sum (fun m => snd m * spent M (next (fst (fst m))) (snd (fst m))) (pieces rows (named r a)) <=
                 sum (fun m => snd m * spent M (next (fst (fst m))) (snd (fst m))) (steps M (entries r) a)).
  { apply (domination same_pair (fun ys => spent M (next (fst ys)) (snd ys))).
    - intros. apply spent_is_not_negative, HM.
    - intros [y z]. rewrite weight_of_steps, weight_of_pieces. destruct (Hholds y) as [_ Hh]. apply Hh. }
  assert (Hpieces : sum (fun p => snd (snd p) * mean M (next (fst p)) (entries (row_of rows (fst (snd p))))) (named r a) ==
                    sum (fun m => snd m * spent M (next (fst (fst m))) (snd (fst m))) (pieces rows (named r a))).
  { unfold pieces. rewrite sum_flat_map. apply sum_ext. intros [y [i t]] _. simpl. rewrite sum_map.
    unfold mean. rewrite <- sum_scale. apply sum_ext. intros [[l s] w] _. simpl. ring. }
  rewrite Hpieces in Hle. eapply Qle_trans; [exact Hle2|]. apply Qplus_le_compat; [apply Qle_refl|].
  eapply Qle_trans; eassumption.
Qed.

(** The claim: H are the weighted hypotheses. *)
Theorem lower_bound_of_the_mean : forall M rows H parts,
  costs_are_not_negative M ->
  (forall m, In m H -> 0 <= snd m) ->
  well_labelled M (support H) ->
  (forall r, In r rows -> consistent_row M rows r) ->
  holds M rows H parts ->
  forall p, solves M p (support H) -> exists q, total rows parts = Some q /\ q <= mean M p H.
Proof.
  intros M rows H parts HM Hpos HH Hrows [Hparts Hweights] p Hs.
  destruct (total_bounded _ (fun p' => p') rows parts (fun p' => snd p' * mean M p (entries (row_of rows (fst p'))))) as [q [Hq Hle]].
  { intros [i t] Hin. destruct (Hparts i t Hin) as [Ht [Hi Hc]]. simpl.
    destruct (weighted_rows_bound_means M rows HM Hrows p (support H) (row_of rows i)) as [b [Hb Hle]]; auto.
    { apply nth_In. exact Hi. }
    exists b. split; [assumption|]. rewrite (Qmult_comm t b), (Qmult_comm t). apply Qmult_le_compat_r; assumption. }
  rewrite map_id in Hq. exists q. split; [assumption|]. eapply Qle_trans; [exact Hle|].
  set (flat := fun p' : part => map (fun m => (snd (fst m), snd p' * snd m)) (entries (row_of rows (fst p')))).
  assert (E1 : sum (fun p' => snd p' * mean M p (entries (row_of rows (fst p')))) parts ==
               sum (fun m => snd m * spent M p (fst m)) (flat_map flat parts)).
  { rewrite sum_flat_map. apply sum_ext. intros [i t] _. unfold flat. simpl. rewrite sum_map.
    unfold mean. rewrite <- sum_scale. apply sum_ext. intros [[l s] w] _. simpl. ring. }
  assert (E2 : mean M p H == sum (fun m => snd m * spent M p (fst m)) (map (fun m => (snd (fst m), snd m)) H)).
  { rewrite sum_map. reflexivity. }
  rewrite E1, E2. apply (domination Nat.eq_dec (spent M p)).
  - apply spent_is_not_negative, HM.
  - intros z. specialize (Hweights z). unfold weight_at. rewrite sum_flat_map, sum_map. simpl.
    eapply Qle_trans; [|exact Hweights]. apply Qle_lteq. right. apply sum_ext. intros [i t] _. unfold flat. simpl.
    rewrite sum_map. unfold weight_in. rewrite <- sum_scale. apply sum_ext. intros [[l s] w] _. simpl.
    destruct (Nat.eq_dec s z); [reflexivity|ring].
Qed.

Corollary no_lower_mean : forall M rows H parts q c,
  costs_are_not_negative M ->
  (forall m, In m H -> 0 <= snd m) ->
  well_labelled M (support H) ->
  (forall r, In r rows -> consistent_row M rows r) ->
  holds M rows H parts ->
  total rows parts = Some q -> c * size H <= q ->
  forall p, solves M p (support H) -> c * size H <= mean M p H.
Proof.
  intros M rows H parts q c HM Hpos HH Hrows Hh Ht Hc p Hs.
  destruct (lower_bound_of_the_mean M rows H parts HM Hpos HH Hrows Hh p Hs) as [q' [E Hle]].
  rewrite Ht in E. inversion E; subst. lra.
Qed.

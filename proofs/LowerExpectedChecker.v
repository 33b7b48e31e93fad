(** A checker of the claim [lower-expected], with the proof that what it accepts is true.

    Claim: [lower-expected] of docs/certificate-format.md, with [block]; a twin of src/ascertain_check/claims/lower_expected.py, which is
    run beside it (tests/test_proofs.py). It shares tasks, classes and covers with [LowerChecker.v].

    Proved: where [check_mean] returns true, every policy that settles the question of the task has, under the weights of the
    claim, a mean cost of at least what is claimed ([mean_checker_is_sound]). *)

From Coq Require Import QArith List Lia Lqa PeanoNat Bool.
From Ascertain Require Import Sums Tasks Lower LowerChecker LowerCheckerProof LowerExpected.
Import ListNotations.
Open Scope Q_scope.

Record mean_table_row := {
  mean_set : weighted;
  mean_bound : bound;
  mean_named : list (nat * list (nat * part))  (* action, and parts, each for a reading *)
}.

Record mean_claim := {
  mean_claimed : Q;
  mean_weights : list Q;                       (* one for every hypothesis *)
  mean_parts : list part;
  mean_rows : list mean_table_row;
  mean_block : list nat
}.

(** ** The checker *)

(** The classes of the claim, in the form that [LowerChecker.v] takes. *)
Definition with_block (C : mean_claim) : claim :=
  {| claimed := None; root := None; table_rows := []; block := mean_block C |}.

Fixpoint find_parts (a : nat) (named : list (nat * list (nat * part))) : list (nat * part) :=
  match named with
  | [] => []
  | (a', parts) :: rest => if Nat.eqb a' a then parts else find_parts a rest
  end.

Definition weighted_row_of (r : mean_table_row) : weighted_row :=
  {| entries := mean_set r; value := mean_bound r; named := fun a => find_parts a (mean_named r) |}.

Definition rows_of (C : mean_claim) : list weighted_row := map weighted_row_of (mean_rows C).

Definition parts_are_well_formed (C : mean_claim) (parts : list part) : bool :=
  forallb (fun p => below (length (mean_rows C)) (fst p) && negb (Qle_bool (snd p) 0)) parts.

Definition mean_row_is_well_formed (T : table_task) (C : mean_claim) (r : mean_table_row) : bool :=
  forallb (fun m => below (num_labels T) (fst (fst m)) && below (num_classes (with_block C)) (snd (fst m)) &&
                    Qle_bool 0 (snd m)) (mean_set r) &&
  no_pair_twice (support (mean_set r)) &&
  forallb (fun v => below (length (costs T)) (fst v) && forallb (fun p => below (num_readings T) (fst p)) (snd v) &&
                    parts_are_well_formed C (map snd (snd v))) (mean_named r).

(** W holds these parts. States that no part has need no look. *)
Definition holds_b (rows : list weighted_row) (W : weighted) (parts : list part) : bool :=
  forallb (fun p => Qle_bool 0 (snd p) && below (length rows) (fst p) &&
                    covers (support W) (support (entries (row_of rows (fst p))))) parts &&
  forallb (fun z => Qle_bool (sum (fun p => snd p * weight_in z (entries (row_of rows (fst p)))) parts)
                             (weight_in z W))
    (flat_map (fun p => map (fun m => snd (fst m)) (entries (row_of rows (fst p)))) parts).

(** Condition 2 for one action. *)
Definition mean_move_is_sound (N : task) (rows : list weighted_row) (r : weighted_row) (a : nat) : bool :=
  negb (all_allow_b N (support (entries r)) a) ||
  (forallb (fun y => holds_b rows (weighted_after N (entries r) a y) (parts_for y (named r a)))
     (map fst (named r a)) &&
   match total rows (map snd (named r a)) with
   | None => true
   | Some q => match value r with Some b => Qle_bool b (cost N a * size (entries r) + q) | None => false end
   end).

Definition mean_row_is_sound (T : table_task) (C : mean_claim) (r : mean_table_row) : bool :=
  let N := quotient_of T (with_block C) in
  mean_row_is_well_formed T C r && well_labelled_b N (support (mean_set r)) && two_labels_b (support (mean_set r)) &&
  (share_a_state_b (support (mean_set r)) ||
   forallb (mean_move_is_sound N (rows_of C) (weighted_row_of r)) (seq 0 (length (costs T)))).

Definition weighted_classes (T : table_task) (C : mean_claim) : weighted :=
  combine (classes (class_of (with_block C)) (hypotheses T)) (mean_weights C).

Definition mean_root_is_sound (T : table_task) (C : mean_claim) : bool :=
  Nat.eqb (length (mean_weights C)) (length (hypotheses T)) &&
  forallb (fun w => negb (Qle_bool w 0)) (mean_weights C) &&
  parts_are_well_formed C (mean_parts C) &&
  holds_b (rows_of C) (weighted_classes T C) (mean_parts C) &&
  match total (rows_of C) (mean_parts C) with
  | None => true
  | Some q => Qle_bool (mean_claimed C * sum (fun w => w) (mean_weights C)) q
  end.

Definition check_mean (T : table_task) (C : mean_claim) : bool :=
  task_is_sound T && block_is_stable T (with_block C) && no_gaps (with_block C) &&
  forallb (mean_row_is_sound T C) (mean_rows C) && mean_root_is_sound T C.

(** ** Its proof *)

Lemma not_le_0 : forall q, negb (Qle_bool q 0) = true -> 0 <= q.
Proof.
  intros q H. destruct (Qlt_le_dec 0 q) as [L|L]; [lra|]. apply Qle_bool_iff in L. rewrite L in H. discriminate.
Qed.

Lemma weight_in_is_not_negative : forall z W, (forall m, In m W -> 0 <= snd m) -> 0 <= weight_in z W.
Proof.
  intros z W H. unfold weight_in. apply sum_is_not_negative. intros m Hm. destruct (Nat.eq_dec (snd (fst m)) z); [apply H, Hm|lra].
Qed.

Lemma no_weight_elsewhere : forall z W, ~ In z (map (fun m => snd (fst m)) W) -> weight_in z W == 0.
Proof.
  intros z W H. unfold weight_in. rewrite (sum_ext _ (fun _ => 0)); [apply sum_zero|]. intros m Hm.
  destruct (Nat.eq_dec (snd (fst m)) z) as [E|_]; [|reflexivity]. exfalso. apply H. apply in_map_iff. exists m. auto.
Qed.

Lemma holds_is_sound : forall M rows W parts,
  well_labelled M (support W) -> (forall m, In m W -> 0 <= snd m) ->
  (forall r, In r rows -> well_labelled M (support (entries r))) ->
  holds_b rows W parts = true -> holds M rows W parts.
Proof.
  intros M rows W parts HW Hpos Hrows H. unfold holds_b in H. apply andb_true_iff in H. destruct H as [H1 H2].
  rewrite forallb_forall in H1, H2. split.
  - intros i t Hin. specialize (H1 _ Hin). simpl in H1. apply andb_true_iff in H1. destruct H1 as [H1 Hc].
    apply andb_true_iff in H1. destruct H1 as [Ht Hi]. apply Qle_bool_iff in Ht. apply Nat.ltb_lt in Hi.
    split; [assumption|]. split; [assumption|]. apply covers_is_sound; [assumption| |assumption].
    apply Hrows, nth_In, Hi.
  - intros z.
    destruct (in_dec Nat.eq_dec z (flat_map (fun p => map (fun m => snd (fst m)) (entries (row_of rows (fst p)))) parts))
      as [Hz|Hz].
    + apply Qle_bool_iff, H2, Hz.
    + rewrite (sum_ext _ (fun _ => 0)); [rewrite sum_zero; apply weight_in_is_not_negative, Hpos|].
      intros p Hp. rewrite no_weight_elsewhere; [ring|]. intros Hin. apply Hz. apply in_flat_map. exists p. auto.
Qed.

Lemma weights_after : forall M R a y, (forall m, In m R -> 0 <= snd m) -> forall m, In m (weighted_after M R a y) -> 0 <= snd m.
Proof.
  intros M R a y H m Hm. unfold weighted_after in Hm. apply in_flat_map in Hm. destruct Hm as [n [Hn Hm]].
  apply in_map_iff in Hm. destruct Hm as [x [E _]]. subst. simpl. apply H, Hn.
Qed.

Lemma mean_rows_are_consistent : forall T C, task_is_sound T = true ->
  forallb (mean_row_is_sound T C) (mean_rows C) = true ->
  forall r, In r (rows_of C) ->
  well_labelled (quotient_of T (with_block C)) (support (entries r)) /\
  consistent_row (quotient_of T (with_block C)) (rows_of C) r.
Proof.
  intros T C HT Hall. rewrite forallb_forall in Hall. set (N := quotient_of T (with_block C)).
  assert (Hlab : forall r, In r (rows_of C) -> well_labelled N (support (entries r))).
  { intros r Hr. apply in_map_iff in Hr. destruct Hr as [r0 [E Hr]]. subst. specialize (Hall _ Hr). unfold mean_row_is_sound in Hall.
    repeat (apply andb_true_iff in Hall; destruct Hall as [Hall ?]). apply well_labelled_is_sound. assumption. }
  intros r Hr. split; [apply Hlab, Hr|]. pose proof (Hlab r Hr) as Hl. apply in_map_iff in Hr. destruct Hr as [r0 [E Hr]].
  subst r. specialize (Hall _ Hr). unfold mean_row_is_sound in Hall. fold N in Hall.
  apply andb_true_iff in Hall. destruct Hall as [Hall Hmoves]. apply andb_true_iff in Hall. destruct Hall as [Hall Htwo].
  apply andb_true_iff in Hall. destruct Hall as [Hform _]. apply two_labels_is_sound in Htwo.
  assert (Hpos : forall m, In m (mean_set r0) -> 0 <= snd m).
  { intros m Hm. unfold mean_row_is_well_formed in Hform. apply andb_true_iff in Hform. destruct Hform as [Hform _].
    apply andb_true_iff in Hform. destruct Hform as [Hform _]. rewrite forallb_forall in Hform. specialize (Hform _ Hm).
    apply andb_true_iff in Hform. destruct Hform as [_ Hform]. apply Qle_bool_iff, Hform. }
  split; [exact Hpos|]. split; [exact Hl|]. split; [exact Htwo|].
  apply orb_true_iff in Hmoves. destruct Hmoves as [Hshare|Hmoves]; [left; apply share_a_state_is_sound, Hshare|right].
  intros a Ha. rewrite forallb_forall in Hmoves.
  assert (Hrange : (a < length (costs T))%nat).
  { destruct Htwo as [m [_ [Hm _]]]. specialize (Ha m Hm). simpl in Ha.
    destruct (first_of (snd m) (mean_block C) 0) as [s|]; [|congruence].
    destruct (lookup (table T) s a) eqn:E; [|congruence]. apply (lookup_in_range T) in E; [lia|assumption]. }
  specialize (Hmoves a ltac:(apply in_seq; lia)). unfold mean_move_is_sound in Hmoves.
  rewrite (all_allow_is_complete _ _ _ Ha) in Hmoves. simpl negb in Hmoves. simpl orb in Hmoves.
  apply andb_true_iff in Hmoves. destruct Hmoves as [Hh Ht]. rewrite forallb_forall in Hh. split.
  - intros y. destruct (in_dec Nat.eq_dec y (map fst (named (weighted_row_of r0) a))) as [Hy|Hy].
    + apply holds_is_sound; [rewrite support_after; apply well_labelled_after|apply weights_after, Hpos|exact Hlab|].
      apply Hh, Hy.
    + assert (E : parts_for y (named (weighted_row_of r0) a) = []).
      { clear Hh Ht. unfold parts_for. induction (named (weighted_row_of r0) a) as [|p rest IH]; simpl; [reflexivity|].
        destruct (Nat.eqb_spec (fst p) y) as [F|F].
        - exfalso. apply Hy. left. exact F.
        - apply IH. intros G. apply Hy. right. exact G. }
      rewrite E. split; [intros i t []|]. intros z. simpl. apply weight_in_is_not_negative, weights_after, Hpos.
  - simpl named in *. destruct (total (rows_of C) (map snd (find_parts a (mean_named r0)))) as [q|]; [|exact I].
    simpl value in *. destruct (mean_bound r0) as [b|]; [|discriminate]. exists b. split; [reflexivity|]. apply Qle_bool_iff, Ht.
Qed.

Lemma support_of_combine : forall (R : pairs) (W : list Q), length W = length R -> support (combine R W) = R.
Proof.
  unfold support. induction R as [|m R IH]; intros [|w W] H; simpl in *; try discriminate; [reflexivity|]. f_equal. apply IH. lia.
Qed.

Lemma size_of_combine : forall (R : pairs) (W : list Q), length W = length R -> size (combine R W) == sum (fun w => w) W.
Proof.
  unfold size. induction R as [|m R IH]; intros [|w W] H; simpl in *; try discriminate; [reflexivity|]. rewrite IH; [reflexivity|lia].
Qed.

Lemma mean_of_classes : forall M N b p, (forall s, spent N p (b s) == spent M p s) -> forall R W,
  mean N p (combine (classes b R) W) == mean M p (combine R W).
Proof.
  intros M N b p H R. unfold mean, classes. induction R as [|m R IH]; intros [|w W]; simpl; try reflexivity.
  rewrite IH, H. reflexivity.
Qed.

(** The sum of weight times cost is at least what is claimed times the sum of the weights. *)
Theorem mean_checker_is_sound : forall T C, check_mean T C = true ->
  forall p, solves (task_of T) p (hypotheses T) ->
  mean_claimed C * sum (fun w => w) (mean_weights C) <= mean (task_of T) p (combine (hypotheses T) (mean_weights C)).
Proof.
  intros T C H p Hp. unfold check_mean in H. apply andb_true_iff in H. destruct H as [H Hroot].
  apply andb_true_iff in H. destruct H as [H Hrows]. apply andb_true_iff in H. destruct H as [H _].
  apply andb_true_iff in H. destruct H as [HT Hblock].
  pose proof (block_is_sound T (with_block C) HT Hblock) as Hst. set (N := quotient_of T (with_block C)) in *.
  destruct (quotient_keeps_policies _ _ _ Hst p (hypotheses T)) as [Hiff Hspent].
  pose proof (mean_rows_are_consistent T C HT Hrows) as Hcons.
  unfold mean_root_is_sound in Hroot. apply andb_true_iff in Hroot. destruct Hroot as [Hroot Htotal].
  apply andb_true_iff in Hroot. destruct Hroot as [Hroot Hholds]. apply andb_true_iff in Hroot. destruct Hroot as [Hroot _].
  apply andb_true_iff in Hroot. destruct Hroot as [Hlen Hpos]. apply Nat.eqb_eq in Hlen. rewrite forallb_forall in Hpos.
  set (H := weighted_classes T C) in *.
  assert (Hlen' : length (mean_weights C) = length (classes (class_of (with_block C)) (hypotheses T))).
  { unfold classes. rewrite map_length. exact Hlen. }
  assert (Hsup : support H = classes (class_of (with_block C)) (hypotheses T)) by (apply support_of_combine, Hlen').
  assert (HH : well_labelled N (support H)).
  { rewrite Hsup. assert (G : well_labelled (task_of T) (hypotheses T)).
    { apply well_labelled_is_sound. unfold task_is_sound in HT. apply andb_true_iff in HT. apply HT. }
    destruct Hst as [_ [_ Hcur]]. unfold well_labelled in *. destruct (current N) as [g|]; [|exact I].
    destruct (current (task_of T)) as [f|]; [|contradiction]. intros [k c] Hin. unfold classes in Hin.
    apply in_map_iff in Hin. destruct Hin as [[k' s] [Ek Hin]]. simpl in Ek. inversion Ek; subst. simpl. rewrite Hcur. apply (G _ Hin). }
  assert (HposH : forall m, In m H -> 0 <= snd m).
  { intros [m w] Hm. apply in_combine_r in Hm. simpl. apply not_le_0, Hpos, Hm. }
  destruct (lower_bound_of_the_mean N (rows_of C) H (mean_parts C)) with (p := p) as [q [Eq Hle]].
  - exact (costs_are_sound T HT).
  - exact HposH.
  - exact HH.
  - intros r Hr. apply Hcons, Hr.
  - apply holds_is_sound; auto. intros r Hr. apply Hcons, Hr.
  - rewrite Hsup. apply Hiff, Hp.
  - rewrite Eq in Htotal. apply Qle_bool_iff in Htotal.
    rewrite <- (mean_of_classes (task_of T) N (class_of (with_block C)) p Hspent). fold (weighted_classes T C). fold H. lra.
Qed.

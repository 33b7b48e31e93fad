(** The proof that what the checker of [LowerChecker.v] accepts is true.

    Claim: [lower] of docs/certificate-format.md, with [block]; src/ascertain_check/claims/lower.py.

    Proved: where [check] returns true, every policy that settles the question of the task costs some hypothesis at least
    what is claimed, and there is none where "inf" is claimed ([checker_is_sound]). *)

From Coq Require Import QArith List Lia Lqa PeanoNat Bool.
From Ascertain Require Import Tasks Lower LowerChecker.
Import ListNotations.
Open Scope Q_scope.

Definition row_of (r : table_row) : row :=
  {| members := set r; worth := set_bound r; moves := fun a => find_move a (named r) |}.

Lemma has_in : forall R m, has R m = true -> In m R.
Proof.
  intros R [k s] H. unfold has in H. apply existsb_exists in H. destruct H as [[k' s'] [Hin H]].
  unfold same_pair in H. simpl in H. apply andb_true_iff in H. destruct H as [H1 H2].
  apply Nat.eqb_eq in H1. apply Nat.eqb_eq in H2. subst. exact Hin.
Qed.

Lemma in_labels_at : forall W s l, In l (labels_at W s) <-> In (l, s) W.
Proof.
  intros W s l. unfold labels_at. rewrite nodup_In, in_map_iff. split.
  - intros [[l' s'] [E H]]. apply filter_In in H. destruct H as [H1 H2]. simpl in *. apply Nat.eqb_eq in H2. subst. exact H1.
  - intros H. exists (l, s). split; [reflexivity|]. apply filter_In. simpl. rewrite Nat.eqb_refl. auto.
Qed.

(** A map of labels as a list of pairs. *)
Fixpoint send (map : pairs) (l : nat) : nat :=
  match map with [] => 0%nat | (l', k) :: rest => if Nat.eqb l' l then k else send rest l end.

Lemma send_onto : forall K L, NoDup L -> (length K <= length L)%nat -> forall k, In k K ->
  exists l, In l L /\ send (combine L K) l = k.
Proof.
  induction K as [|k0 K IH]; intros L Hnd Hlen k Hk; [contradiction|].
  destruct L as [|l0 L]; simpl in Hlen; [lia|]. inversion Hnd as [|? ? Hnot Hnd']; subst. destruct Hk as [Hk|Hk].
  - subst. exists l0. simpl. rewrite Nat.eqb_refl. auto.
  - destruct (IH L Hnd' ltac:(lia) k Hk) as [l [Hl E]]. exists l. split; [right; exact Hl|]. simpl.
    destruct (Nat.eqb_spec l0 l); [subst; contradiction|exact E].
Qed.

(** Each way to cover has a map of labels, and leaves no state out. *)
Lemma covers_by_a_map : forall W R, covers W R = true ->
  exists f : nat -> nat, forall k s, In (k, s) R -> exists l, In (l, s) W /\ f l = k.
Proof.
  intros W R H. unfold covers in H. apply orb_true_iff in H. destruct H as [H|H]; [apply orb_true_iff in H; destruct H as [H|H]|].
  - exists (fun k => k). intros k s Hin. exists k. split; [|reflexivity].
    unfold subset in H. rewrite forallb_forall in H. apply has_in, H, Hin.
  - unfold one_state_cover in H. destruct R as [|[k0 s0] R]; [discriminate|]. set (R0 := (k0, s0) :: R) in *.
    apply andb_true_iff in H. destruct H as [H1 H2]. apply Nat.leb_le in H2. rewrite forallb_forall in H1.
    exists (send (combine (labels_at W s0) (map fst R0))). intros k s Hin.
    specialize (H1 _ Hin). simpl in H1. apply Nat.eqb_eq in H1. subst s.
    destruct (send_onto (map fst R0) (labels_at W s0) (NoDup_nodup _ _)) with (k := k) as [l [Hl E]].
    + rewrite map_length. exact H2.
    + apply in_map_iff. exists (k, s0). auto.
    + exists l. split; [apply in_labels_at, Hl|exact E].
  - unfold functional_cover in H. apply andb_true_iff in H. destruct H as [H1 H2].
    rewrite forallb_forall in H1, H2.
    exists (send (map (fun m => (hd 0%nat (labels_at W (snd m)), fst m)) R)). intros k s Hin.
    exists (hd 0%nat (labels_at W s)). pose proof (H1 _ Hin) as Hone. simpl in Hone. apply Nat.eqb_eq in Hone. split.
    + apply in_labels_at. destruct (labels_at W s); simpl in *; [discriminate|left; reflexivity].
    + specialize (H2 _ Hin). simpl in H2. rewrite forallb_forall in H2. clear H1 Hone.
      assert (G : forall R', incl R' R -> In (k, s) R' ->
                send (map (fun m => (hd 0%nat (labels_at W (snd m)), fst m)) R') (hd 0%nat (labels_at W s)) = k).
      { induction R' as [|[k' s'] R' IH]; intros Hincl Hin'; [contradiction|]. simpl.
        destruct (Nat.eqb_spec (hd 0%nat (labels_at W s')) (hd 0%nat (labels_at W s))) as [E|E].
        - specialize (H2 (k', s') (Hincl _ (or_introl eq_refl))). simpl in H2. rewrite E, Nat.eqb_refl in H2. simpl in H2.
          apply Nat.eqb_eq in H2. congruence.
        - destruct Hin' as [Hin'|Hin']; [congruence|]. apply IH; [|exact Hin']. intros x Hx. apply Hincl. right. exact Hx. }
      apply G; [apply incl_refl|exact Hin].
Qed.

Lemma covers_is_sound : forall M W R, well_labelled M W -> well_labelled M R -> covers W R = true -> covered M W R.
Proof.
  intros M W R HW HR H. apply covers_by_a_map in H. unfold covered, well_labelled in *. destruct (current M) as [g|].
  - destruct H as [f H]. intros [k s] Hin. destruct (H _ _ Hin) as [l [Hl _]].
    pose proof (HR _ Hin) as E1. pose proof (HW _ Hl) as E2. simpl in *. subst. exact Hl.
  - exact H.
Qed.

Lemma well_labelled_is_sound : forall M R, well_labelled_b M R = true -> well_labelled M R.
Proof.
  intros M R H. unfold well_labelled_b, well_labelled in *. destruct (current M) as [f|]; [|exact I].
  rewrite forallb_forall in H. intros m Hm. apply Nat.eqb_eq, H, Hm.
Qed.

Lemma reaches_is_sound : forall b' b c, reaches_b b' b c = true -> reaches b' b c.
Proof.
  intros [q'|] [q|] c H; simpl in *; auto; [apply Qle_bool_iff, H|discriminate].
Qed.

Lemma two_labels_is_sound : forall R, two_labels_b R = true -> two_labels R.
Proof.
  intros R H. unfold two_labels_b in H. apply existsb_exists in H. destruct H as [m [Hm H]].
  apply existsb_exists in H. destruct H as [n [Hn H]]. exists m, n. repeat split; auto.
  intros E. rewrite E, Nat.eqb_refl in H. discriminate.
Qed.

Lemma share_a_state_is_sound : forall R, share_a_state_b R = true -> share_a_state R.
Proof.
  intros R H. unfold share_a_state_b in H. apply existsb_exists in H. destruct H as [m [Hm H]].
  apply existsb_exists in H. destruct H as [n [Hn H]]. apply andb_true_iff in H. destruct H as [H1 H2].
  exists m, n. repeat split; auto; [apply Nat.eqb_eq, H1|]. intros E. rewrite E, Nat.eqb_refl in H2. discriminate.
Qed.

Lemma all_allow_is_complete : forall N R a, all_allow N R a -> all_allow_b N R a = true.
Proof.
  intros N R a H. unfold all_allow_b. apply forallb_forall. intros m Hm. specialize (H m Hm).
  destruct (step N (snd m) a); [reflexivity|congruence].
Qed.

Lemma lookup_in_range : forall T s a e, task_is_sound T = true -> lookup (table T) s a = Some e ->
  (s < length (table T))%nat /\ (a < length (costs T))%nat.
Proof.
  intros T s a e HT H. unfold lookup in H. destruct (nth_error (table T) s) as [row|] eqn:E; [|discriminate]. split.
  - apply nth_error_Some. congruence.
  - assert (L : length row = length (costs T)).
    { unfold task_is_sound in HT. repeat (apply andb_true_iff in HT; destruct HT as [HT ?]).
      rewrite forallb_forall in HT. apply Nat.eqb_eq, HT. eapply nth_error_In, E. }
    rewrite <- L. apply nth_error_Some. destruct (nth_error row a); congruence.
Qed.

Lemma same_entry_is_sound : forall x y, same_entry x y = true -> x = y.
Proof.
  intros [[a b]|] [[c d]|] H; simpl in H; try discriminate; [|reflexivity].
  apply andb_true_iff in H. destruct H as [H1 H2]. apply Nat.eqb_eq in H1. apply Nat.eqb_eq in H2. congruence.
Qed.

Lemma first_of_nothing : forall L c s, Forall (fun x => x <> c) L -> first_of c L s = None.
Proof.
  induction L as [|x rest IH]; intros c s H; simpl; [reflexivity|]. inversion H; subst.
  destruct (Nat.eqb_spec x c); [contradiction|]. apply IH. assumption.
Qed.

Lemma block_is_sound : forall T C, task_is_sound T = true -> block_is_stable T C = true ->
  stable (task_of T) (quotient_of T C) (class_of C).
Proof.
  intros T C HT H. unfold block_is_stable in H. apply andb_true_iff in H. destruct H as [H H3].
  apply andb_true_iff in H. destruct H as [H1 H2]. apply Nat.eqb_eq in H1.
  rewrite forallb_forall in H2, H3.
  (* what is no state is in a class that is none *)
  assert (Hout : forall s, (length (table T) <= s)%nat -> first_of (class_of C s) (block C) 0 = None).
  { intros s Hs. unfold class_of. rewrite nth_overflow by lia. apply first_of_nothing. apply Forall_forall.
    intros x Hx E. specialize (H2 x Hx). unfold below in H2. apply Nat.ltb_lt in H2. lia. }
  split; [|split].
  - intros s a. destruct (Nat.lt_ge_cases s (length (table T))) as [Hs|Hs].
    + specialize (H3 s). rewrite in_seq in H3. specialize (H3 ltac:(lia)). apply andb_true_iff in H3. destruct H3 as [H3 _].
      rewrite forallb_forall in H3. destruct (Nat.lt_ge_cases a (length (costs T))) as [Ha|Ha].
      * apply same_entry_is_sound, H3. apply in_seq. lia.
      * simpl. assert (N : forall s, lookup (table T) s a = None).
        { intros t. destruct (lookup (table T) t a) eqn:E; [|reflexivity]. apply (lookup_in_range T) in E; [lia|assumption]. }
        rewrite N. destruct (first_of (class_of C s) (block C) 0); [rewrite N|]; reflexivity.
    + simpl. rewrite (Hout s Hs). destruct (lookup (table T) s a) eqn:E; [|reflexivity].
      apply (lookup_in_range T) in E; [lia|assumption].
  - intros a. reflexivity.
  - simpl. unfold label_list. destruct (now T) as [ls|] eqn:E; [|exact I]. intros s.
    destruct (Nat.lt_ge_cases s (length (table T))) as [Hs|Hs].
    + specialize (H3 s). rewrite in_seq in H3. specialize (H3 ltac:(lia)). apply andb_true_iff in H3. destruct H3 as [_ H3].
      unfold task_of, quotient_of, label_list in H3. simpl in H3. rewrite E in H3. apply Nat.eqb_eq, H3.
    + rewrite (Hout s Hs). rewrite nth_overflow; [reflexivity|].
      unfold task_is_sound in HT. repeat (apply andb_true_iff in HT; destruct HT as [HT ?]).
      rewrite E in *. match goal with H : (Nat.eqb (length ls) _ && _) = true |- _ =>
        apply andb_true_iff in H; destruct H as [H _]; apply Nat.eqb_eq in H end. lia.
Qed.

Lemma costs_are_sound : forall T, task_is_sound T = true -> forall a, 0 <= nth a (costs T) 0.
Proof.
  intros T HT a. unfold task_is_sound in HT. repeat (apply andb_true_iff in HT; destruct HT as [HT ?]).
  match goal with H : forallb (fun c => negb (Qle_bool c 0)) _ = true |- _ => rename H into Hc end.
  rewrite forallb_forall in Hc. destruct (nth_in_or_default a (costs T) 0) as [Hin|E]; [|rewrite E; lra].
  specialize (Hc _ Hin). destruct (Qle_bool (nth a (costs T) 0) 0) eqn:F; [discriminate|].
  destruct (Qlt_le_dec 0 (nth a (costs T) 0)) as [L|L]; [lra|]. apply Qle_bool_iff in L. congruence.
Qed.

Lemma ways_are_sound : forall T C, task_is_sound T = true -> are_ways (quotient_of T C) (ways_of T).
Proof.
  intros T C HT. split.
  - intros w Hw. apply filter_In in Hw. destruct Hw as [Hw _]. apply in_map_iff in Hw. destruct Hw as [a [E _]].
    subst. simpl. apply costs_are_sound, HT.
  - intros a.
    assert (Hlist : forall s y s', step (quotient_of T C) s a = Some (y, s') ->
              In y (readings_of T a) /\ (a < length (costs T))%nat).
    { intros c y c' H. simpl in H. destruct (first_of c (block C) 0) as [s|]; [|discriminate].
      destruct (lookup (table T) s a) as [[y' s']|] eqn:E; [|discriminate]. inversion H; subst.
      destruct (lookup_in_range T s a _ HT E). split; [|assumption]. apply nodup_In, in_flat_map.
      exists s. split; [apply in_seq; lia|]. rewrite E. left. reflexivity. }
    destruct (Nat.lt_ge_cases a (length (costs T))) as [Ha|Ha].
    + destruct (Nat.lt_ge_cases 1 (length (readings_of T a))) as [Hm|Hm].
      * right. exists (length (readings_of T a)). split; [lia|]. split.
        -- exists (readings_of T a). split; [lia|]. intros s y s' H. apply (Hlist s y s' H).
        -- apply filter_In. split; [|apply Nat.leb_le; exact Hm].
           apply in_map_iff. exists a. split; [reflexivity|apply in_seq; lia].
      * left. exists (readings_of T a). split; [lia|]. intros s y s' H. apply (Hlist s y s' H).
    + left. exists []. split; [simpl; lia|]. intros s y s' H. destruct (Hlist s y s' H). lia.
Qed.

Lemma row_is_consistent : forall T C r, task_is_sound T = true ->
  forallb (row_is_sound T C) (table_rows C) = true -> In r (table_rows C) ->
  consistent (quotient_of T C) (map row_of (table_rows C)) (row_of r).
Proof.
  intros T C r HT Hall Hr. rewrite forallb_forall in Hall. pose proof (Hall r Hr) as H.
  unfold row_is_sound in H. apply andb_true_iff in H. destruct H as [H Hmoves].
  apply andb_true_iff in H. destruct H as [H Htwo]. apply andb_true_iff in H. destruct H as [_ Hlab].
  apply well_labelled_is_sound in Hlab. apply two_labels_is_sound in Htwo.
  split; [exact Hlab|]. split; [exact Htwo|]. apply orb_true_iff in Hmoves. destruct Hmoves as [Hshare|Hmoves].
  - left. apply share_a_state_is_sound, Hshare.
  - right. intros a Ha. simpl in Ha. rewrite forallb_forall in Hmoves.
    assert (Hrange : (a < length (costs T))%nat).
    { destruct Htwo as [m [_ [Hm _]]]. specialize (Ha m Hm). simpl in Ha.
      destruct (first_of (snd m) (block C) 0) as [s|]; [|congruence].
      destruct (lookup (table T) s a) eqn:E; [|congruence]. apply (lookup_in_range T) in E; [lia|assumption]. }
    specialize (Hmoves a ltac:(apply in_seq; lia)). unfold move_is_sound in Hmoves.
    rewrite (all_allow_is_complete _ _ _ Ha) in Hmoves. simpl in Hmoves. apply orb_true_iff in Hmoves.
    destruct Hmoves as [Hq|Hn].
    + left. simpl. destruct (set_bound r) as [q|]; [|discriminate]. exists q. split; [reflexivity|]. apply Qle_bool_iff, Hq.
    + right. simpl. destruct (find_move a (named r)) as [[y i]|].
      2: { right. unfold labels_are_enough in Hn. simpl in Hn. destruct (now T); [discriminate|]. split; [reflexivity|].
           apply existsb_exists in Hn. destruct Hn as [y [_ Hn]]. apply andb_true_iff in Hn. destruct Hn as [Hpos Hb].
           exists (ways_of T), y. split; [apply ways_are_sound, HT|].
           split; [apply Nat.ltb_lt, Hpos|apply reaches_is_sound, Hb]. }
      left.
      destruct (nth_error (table_rows C) i) as [r'|] eqn:E; [|discriminate]. apply andb_true_iff in Hn. destruct Hn as [Hc Hb].
      exists y, i, (row_of r'). split; [reflexivity|]. split; [apply map_nth_error, E|]. split.
      * apply covers_is_sound; [apply well_labelled_after| |exact Hc].
        pose proof (Hall r' (nth_error_In _ _ E)) as H'. unfold row_is_sound in H'.
        apply andb_true_iff in H'. destruct H' as [H' _]. apply andb_true_iff in H'. destruct H' as [H' _].
        apply andb_true_iff in H'. destruct H' as [_ H']. apply well_labelled_is_sound, H'.
      * apply reaches_is_sound, Hb.
Qed.

Theorem checker_is_sound : forall T C, check T C = true ->
  forall p, solves (task_of T) p (hypotheses T) -> costs_at_least (task_of T) p (hypotheses T) (claimed C).
Proof.
  intros T C H p Hp. unfold check in H. apply andb_true_iff in H. destruct H as [H Hroot].
  apply andb_true_iff in H. destruct H as [H Hrows]. apply andb_true_iff in H. destruct H as [H _].
  apply andb_true_iff in H. destruct H as [HT Hblock].
  pose proof (costs_are_sound T HT) as Hcost. pose proof (block_is_sound T C HT Hblock) as Hst.
  unfold root_is_sound in Hroot. destruct (root C) as [i|].
  - destruct (nth_error (table_rows C) i) as [r|] eqn:E; [|discriminate].
    apply andb_true_iff in Hroot. destruct Hroot as [Hc Hb].
    destruct (quotient_keeps_policies _ _ _ Hst p (hypotheses T)) as [Hiff Hspent].
    assert (HH : well_labelled (quotient_of T C) (classes (class_of C) (hypotheses T))).
    { assert (G : well_labelled (task_of T) (hypotheses T)).
      { apply well_labelled_is_sound. unfold task_is_sound in HT. apply andb_true_iff in HT. apply HT. }
      destruct Hst as [_ [_ Hcur]]. unfold well_labelled in *.
      destruct (current (quotient_of T C)) as [g|]; [|exact I]. destruct (current (task_of T)) as [f|]; [|contradiction].
      intros [k c] Hin. unfold classes in Hin. apply in_map_iff in Hin. destruct Hin as [[k' s] [Ek Hin]].
      simpl in Ek. inversion Ek; subst. simpl. rewrite Hcur. apply (G _ Hin). }
    assert (Hr : In r (table_rows C)) by (eapply nth_error_In, E).
    assert (G : costs_at_least (quotient_of T C) p (classes (class_of C) (hypotheses T)) (claimed C)).
    { apply (lower_bound (quotient_of T C) (map row_of (table_rows C)) _ (row_of r)).
      - exact Hcost.
      - exact HH.
      - intros r' Hr'. apply in_map_iff in Hr'. destruct Hr' as [r0 [E0 Hr0]]. subst. apply row_is_consistent; assumption.
      - apply in_map, Hr.
      - apply covers_is_sound; [exact HH| |exact Hc].
        destruct (row_is_consistent T C r HT Hrows Hr) as [G _]. exact G.
      - apply reaches_is_sound, Hb.
      - apply Hiff, Hp. }
    unfold costs_at_least in *. destruct (claimed C) as [q|]; [|contradiction].
    destruct G as [[k c] [Hin Hle]]. unfold classes in Hin. apply in_map_iff in Hin. destruct Hin as [m [Em Hin]].
    inversion Em; subst. exists m. split; [assumption|]. simpl in Hle. rewrite Hspent in Hle. exact Hle.
  - destruct (claimed C) as [q|]; [|discriminate]. apply Qeq_bool_iff in Hroot. simpl.
    unfold task_is_sound in HT. repeat (apply andb_true_iff in HT; destruct HT as [HT ?]).
    destruct (hypotheses T) as [|m rest]; [discriminate|]. exists m. split; [left; reflexivity|].
    rewrite Hroot. apply spent_is_not_negative. exact Hcost.
Qed.

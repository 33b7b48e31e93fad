(** How much it costs at least to tell many labels apart, whatever they are.

    Claim: [lower] of docs/certificate-format.md, the rule for actions that a row does not name; src/ascertain_check/claims/lower.py.

    Proved: in a question about the start no policy settles n labels for less than L(n) ([leaves_cost]), where L is that of the
    format ([leaves_equation]). [Lower.v] uses it. *)

From Coq Require Import QArith List Lia Lqa PeanoNat.
From Ascertain Require Import Tasks.
Import ListNotations.
Open Scope Q_scope.

(** [None] is infinite. *)
Definition bound := option Q.

(** b - c <= b', where inf - c = inf. *)
Definition reaches (b' b : bound) (c : Q) : Prop :=
  match b', b with
  | None, _ => True
  | Some _, None => False
  | Some q', Some q => q - c <= q'
  end.

Definition all_allow (M : task) (R : list (nat * nat)) (a : nat) : Prop :=
  forall m, In m R -> step M (snd m) a <> None.

(** A policy costs some member of R at least b; where b is infinite, that is false. *)
Definition costs_at_least (M : task) (p : policy) (R : list (nat * nat)) (b : bound) : Prop :=
  match b with
  | None => False
  | Some q => exists m, In m R /\ q <= spent M p (snd m)
  end.

(** What leaves cost. A way is a number of readings and a cost. *)
Definition plus (c : Q) (b : bound) : bound := match b with Some q => Some (c + q) | None => None end.

Definition lesser (b b' : bound) : bound :=
  match b, b' with
  | None, _ => b'
  | _, None => b
  | Some q, Some q' => if Qle_bool q q' then b else b'
  end.

Definition rounded_up (n m : nat) : nat := ((n + m - 1) / m)%nat.

(** L(n), followed for so many steps; 0 from there on. With m >= 2 in all ways, n steps are enough ([leaves_equation]). *)
Fixpoint leaves_within (steps : nat) (ways : list (nat * Q)) (n : nat) : bound :=
  match steps with
  | O => Some 0
  | S fewer =>
      if Nat.leb n 1 then Some 0
      else fold_right (fun w b => lesser (plus (snd w) (leaves_within fewer ways (rounded_up n (fst w)))) b) None ways
  end.

Definition leaves (ways : list (nat * Q)) (n : nat) : bound := leaves_within n ways n.

(** Action a gives at most m readings, in whatever state. *)
Definition gives (M : task) (a m : nat) : Prop :=
  exists ys, (length ys <= m)%nat /\ forall s y s', step M s a = Some (y, s') -> In y ys.

(** Every action gives one reading at most, or it is among the ways; none of them has a negative cost. *)
Definition are_ways (M : task) (ways : list (nat * Q)) : Prop :=
  (forall w, In w ways -> 0 <= snd w) /\
  forall a, gives M a 1 \/ exists m, (1 <= m)%nat /\ gives M a m /\ In (m, cost M a) ways.

Definition count_labels (R : list (nat * nat)) : nat := length (nodup Nat.eq_dec (map fst R)).

Lemma lesser_left : forall b b', reaches b (lesser b b') 0.
Proof.
  intros [q|] [q'|]; simpl; auto; try lra. destruct (Qle_bool q q') eqn:E; [lra|].
  destruct (Qlt_le_dec q' q); [lra|]. apply Qle_bool_iff in q0. congruence.
Qed.

Lemma lesser_right : forall b b', reaches b' (lesser b b') 0.
Proof.
  intros [q|] [q'|]; simpl; auto; try lra. destruct (Qle_bool q q') eqn:E; [apply Qle_bool_iff in E|]; lra.
Qed.

Lemma reaches_trans : forall a b c x, reaches a b 0 -> reaches b c x -> reaches a c x.
Proof. intros [a|] [b|] [c|] x; simpl; auto; try contradiction. lra. Qed.

Lemma reaches_lesser : forall b b' c, reaches b c 0 -> reaches b' c 0 -> reaches (lesser b b') c 0.
Proof. intros [q|] [q'|] [c|] H H'; simpl in *; auto; destruct (Qle_bool q q'); auto. Qed.

Lemma reaches_plus : forall c b b', reaches b b' 0 -> reaches (plus c b) (plus c b') 0.
Proof. intros c [q|] [q'|]; simpl; auto. lra. Qed.

Lemma leaves_are_not_negative : forall ways, (forall w, In w ways -> 0 <= snd w) -> forall steps n,
  reaches (leaves_within steps ways n) (Some 0) 0.
Proof.
  intros ways Hw steps. induction steps as [|steps IH]; intros n; simpl; [lra|].
  destruct (Nat.leb n 1); [simpl; lra|]. set (inner := leaves_within steps ways) in *. clearbody inner.
  induction ways as [|w rest IHw]; [exact I|]. simpl. apply reaches_lesser.
  - pose proof (Hw w (or_introl eq_refl)). specialize (IH (rounded_up n (fst w))).
    destruct (inner (rounded_up n (fst w))); simpl in *; [lra|exact I].
  - apply IHw. intros v Hv. apply Hw. right. exact Hv.
Qed.

Lemma rounded_up_grows : forall n n' m, (n <= n')%nat -> (rounded_up n m <= rounded_up n' m)%nat.
Proof.
  intros n n' m H. unfold rounded_up. destruct m as [|m]; [simpl; lia|]. apply Nat.div_le_mono; lia.
Qed.

Lemma leaves_grow : forall ways, (forall w, In w ways -> 0 <= snd w) -> forall steps n n', (n <= n')%nat ->
  reaches (leaves_within steps ways n') (leaves_within steps ways n) 0.
Proof.
  intros ways Hw steps. induction steps as [|steps IH]; intros n n' H; [simpl; lra|].
  destruct (Nat.leb n 1) eqn:E.
  - replace (leaves_within (S steps) ways n) with (Some 0); [apply leaves_are_not_negative, Hw|].
    simpl. rewrite E. reflexivity.
  - simpl. apply Nat.leb_gt in E. replace (Nat.leb n 1) with false by (symmetry; apply Nat.leb_gt; lia).
    replace (Nat.leb n' 1) with false by (symmetry; apply Nat.leb_gt; lia). clear Hw.
    set (inner := leaves_within steps ways) in *. clearbody inner.
    induction ways as [|w rest IHw]; [exact I|]. simpl. apply reaches_lesser.
    + eapply reaches_trans; [|apply lesser_left]. apply reaches_plus, IH, rounded_up_grows, H.
    + eapply reaches_trans; [exact IHw|apply lesser_right].
Qed.

Lemma least_way : forall ways (value : nat * Q -> bound) w, In w ways ->
  reaches (value w) (fold_right (fun w b => lesser (value w) b) None ways) 0.
Proof.
  induction ways as [|v rest IH]; intros value w H; [contradiction|]. simpl. destruct H as [H|H].
  - subst. apply lesser_left.
  - eapply reaches_trans; [apply IH, H|apply lesser_right].
Qed.

Lemma enough_steps : forall ways, (forall w, In w ways -> (2 <= fst w)%nat) -> forall steps steps' n,
  (n <= steps)%nat -> (n <= steps')%nat -> leaves_within steps ways n = leaves_within steps' ways n.
Proof.
  intros ways Hw. induction steps as [|steps IH]; intros [|steps'] n H H'; try reflexivity.
  - replace n with 0%nat by lia. reflexivity.
  - replace n with 0%nat by lia. reflexivity.
  - simpl. destruct (Nat.leb n 1) eqn:E; [reflexivity|]. apply Nat.leb_gt in E.
    assert (G : forall w, In w ways ->
              leaves_within steps ways (rounded_up n (fst w)) = leaves_within steps' ways (rounded_up n (fst w))).
    { intros w Hin. specialize (Hw w Hin). unfold rounded_up.
      assert ((n + fst w - 1) / fst w < n)%nat by (apply Nat.div_lt_upper_bound; nia). apply IH; lia. }
    set (f := leaves_within steps ways) in *. set (g := leaves_within steps' ways) in *. clearbody f g. clear IH Hw.
    induction ways as [|w rest IHw]; [reflexivity|]. simpl. rewrite (G w (or_introl eq_refl)).
    f_equal. apply IHw. intros v Hv. apply G. right. exact Hv.
Qed.

(** [leaves] is L of the format. *)
Theorem leaves_equation : forall ways n, (forall w, In w ways -> (2 <= fst w)%nat) ->
  leaves ways n = if Nat.leb n 1 then Some 0
    else fold_right (fun w b => lesser (plus (snd w) (leaves ways (rounded_up n (fst w)))) b) None ways.
Proof.
  intros ways n Hw. unfold leaves at 1. destruct n as [|n]; [reflexivity|]. cbn [leaves_within].
  destruct (Nat.leb (S n) 1) eqn:E; [reflexivity|]. apply Nat.leb_gt in E.
  assert (G : forall w, In w ways -> leaves_within n ways (rounded_up (S n) (fst w)) = leaves ways (rounded_up (S n) (fst w))).
  { intros w Hin. pose proof (Hw w Hin). apply enough_steps; [exact Hw| |lia]. unfold rounded_up.
    assert ((S n + fst w - 1) / fst w < S n)%nat by (apply Nat.div_lt_upper_bound; nia). lia. }
  set (f := leaves_within n ways) in *. set (g := leaves ways) in *. clearbody f g. clear Hw.
  induction ways as [|w rest IHw]; [reflexivity|]. simpl. rewrite (G w (or_introl eq_refl)).
  f_equal. apply IHw. intros v Hv. apply G. right. exact Hv.
Qed.

Lemma flat_map_length_at_most : forall (g : nat -> list nat) k ys, (forall y, In y ys -> (length (g y) <= k)%nat) ->
  (length (flat_map g ys) <= length ys * k)%nat.
Proof.
  intros g k. induction ys as [|y ys IH]; intros H; simpl; [lia|]. rewrite app_length.
  pose proof (H y (or_introl eq_refl)). specialize (IH (fun z Hz => H z (or_intror Hz))). lia.
Qed.

(** Labels stay, so some reading leaves its share of them. *)
Lemma some_reading_leaves_many : forall M R a m, current M = None -> all_allow M R a -> (1 <= m)%nat -> gives M a m ->
  R <> [] -> exists y, (rounded_up (count_labels R) m <= count_labels (after M R a y))%nat.
Proof.
  intros M R a m Hnow Hall Hm [ys [Hlen Hys]] Hne.
  set (share := rounded_up (count_labels R) m).
  assert (Hshare : (m * share <= count_labels R + m - 1)%nat) by (apply Nat.mul_div_le; lia).
  destruct (existsb (fun y => Nat.leb share (count_labels (after M R a y))) ys) eqn:E.
  { apply existsb_exists in E. destruct E as [y [_ E]]. exists y. apply Nat.leb_le, E. }
  exfalso.
  assert (Hfew : forall y, In y ys -> (count_labels (after M R a y) <= share - 1)%nat /\ (1 <= share)%nat).
  { intros y Hy. assert (F : Nat.leb share (count_labels (after M R a y)) = false).
    { destruct (Nat.leb share (count_labels (after M R a y))) eqn:F; [|reflexivity].
      rewrite <- E. symmetry. apply existsb_exists. exists y. auto. }
    apply Nat.leb_gt in F. lia. }
  assert (Hincl : incl (nodup Nat.eq_dec (map fst R)) (flat_map (fun y => nodup Nat.eq_dec (map fst (after M R a y))) ys)).
  { intros k Hk. apply nodup_In, in_map_iff in Hk. destruct Hk as [[l s] [Hk Hin]]. simpl in Hk. subst l.
    specialize (Hall _ Hin). simpl in Hall. destruct (step M s a) as [[y s']|] eqn:F; [|congruence].
    apply in_flat_map. exists y. split; [apply (Hys _ _ _ F)|]. apply nodup_In, in_map_iff. exists (k, s').
    split; [reflexivity|]. apply in_after. exists k, s. unfold label_after. rewrite Hnow. auto. }
  pose proof (NoDup_incl_length (NoDup_nodup Nat.eq_dec (map fst R)) Hincl) as Hn. fold (count_labels R) in Hn.
  pose proof (flat_map_length_at_most _ (share - 1) ys (fun y Hy => proj1 (Hfew y Hy))) as Hsum.
  destruct R as [|[l s] R]; [congruence|].
  assert (Hl : In l (flat_map (fun y => nodup Nat.eq_dec (map fst (after M ((l, s) :: R) a y))) ys)).
  { apply Hincl, nodup_In. left. reflexivity. }
  apply in_flat_map in Hl. destruct Hl as [y [Hy _]]. destruct (Hfew y Hy) as [_ Hpos].
  assert (length ys * (share - 1) <= m * (share - 1))%nat by (apply Nat.mul_le_mono_r; lia).
  rewrite Nat.mul_sub_distr_l in *. nia.
Qed.

Lemma one_label : forall R k, (forall m, In m R -> fst m = k) -> (count_labels R <= 1)%nat.
Proof.
  intros R k H. unfold count_labels.
  change 1%nat with (length [k]). apply NoDup_incl_length; [apply NoDup_nodup|].
  intros l Hl. apply nodup_In, in_map_iff in Hl. destruct Hl as [m [E Hm]]. left. rewrite <- E. symmetry. apply H, Hm.
Qed.

Lemma costs_less : forall M p R b b', reaches b b' 0 -> costs_at_least M p R b -> costs_at_least M p R b'.
Proof.
  intros M p R [q|] [q'|] H G; simpl in *; try contradiction. destruct G as [m [Hin G]]. exists m. split; [exact Hin|lra].
Qed.

Lemma costs_before : forall M a next R y b, current M = None -> costs_at_least M (next y) (after M R a y) b ->
  costs_at_least M (Ask a next) R (plus (cost M a) b).
Proof.
  intros M a next R y [q|] Hnow H; [|exact H]. destruct H as [[l' s'] [Hin H]]. apply in_after in Hin.
  destruct Hin as [l [s [Hin [Hstep _]]]]. exists (l, s). split; [exact Hin|]. simpl in *. rewrite Hstep. lra.
Qed.

(** In a question about the start no policy settles n labels for less than L(n). *)
Theorem leaves_cost : forall M ways, costs_are_not_negative M -> current M = None -> are_ways M ways ->
  forall p R, R <> [] -> solves M p R -> costs_at_least M p R (leaves ways (count_labels R)).
Proof.
  intros M ways HM Hnow [Hw Hways] p R HR Hp. unfold leaves. generalize (count_labels R) at 1. intros steps.
  revert steps R HR Hp.
  assert (Hzero : forall p R, R <> [] -> costs_at_least M p R (Some 0)).
  { intros p0 [|m R] HR; [congruence|]. exists m. split; [left; reflexivity|]. apply spent_is_not_negative, HM. }
  induction p as [k|a next IH]; intros steps R HR Hs.
  - pose proof (one_label R k Hs) as H1. destruct steps as [|steps]; [apply Hzero, HR|].
    apply Nat.leb_le in H1. unfold leaves_within. rewrite H1. apply Hzero, HR.
  - destruct steps as [|steps]; [apply Hzero, HR|]. destruct (Nat.leb (count_labels R) 1) eqn:E.
    { unfold leaves_within. rewrite E. apply Hzero, HR. }
    destruct Hs as [Hall Hnext]. apply Nat.leb_gt in E.
    assert (Hpos : forall m y, (1 <= m)%nat -> (rounded_up (count_labels R) m <= count_labels (after M R a y))%nat ->
              after M R a y <> []).
    { intros m y Hm Hy F. rewrite F in Hy. unfold rounded_up in Hy. change (count_labels []) with 0%nat in Hy.
      assert (1 <= (count_labels R + m - 1) / m)%nat by (apply Nat.div_le_lower_bound; lia). lia. }
    destruct (Hways a) as [H1|[m [Hm [Hg Hin]]]].
    + destruct (some_reading_leaves_many M R a 1 Hnow Hall (le_n _) H1 HR) as [y Hy].
      apply costs_less with (b := plus (cost M a) (leaves_within (S steps) ways (count_labels (after M R a y)))).
      * assert (G : reaches (leaves_within (S steps) ways (count_labels (after M R a y)))
                            (leaves_within (S steps) ways (count_labels R)) 0).
        { apply leaves_grow; [exact Hw|]. unfold rounded_up in Hy. rewrite Nat.div_1_r in Hy. lia. }
        pose proof (HM a) as Hc.
        destruct (leaves_within (S steps) ways (count_labels (after M R a y))),
                 (leaves_within (S steps) ways (count_labels R)); unfold reaches, plus in *; auto. lra.
      * apply costs_before with (y := y); [exact Hnow|]. apply IH; [apply (Hpos 1%nat y (le_n _) Hy)|apply Hnext].
    + destruct (some_reading_leaves_many M R a m Hnow Hall Hm Hg HR) as [y Hy].
      apply costs_less with (b := plus (cost M a) (leaves_within steps ways (count_labels (after M R a y)))).
      * simpl. replace (Nat.leb (count_labels R) 1) with false by (symmetry; apply Nat.leb_gt; lia).
        eapply reaches_trans; [|exact (least_way ways _ _ Hin)]. simpl. apply reaches_plus, leaves_grow; [exact Hw|exact Hy].
      * apply costs_before with (y := y); [exact Hnow|]. apply IH; [apply (Hpos m y Hm Hy)|apply Hnext].
Qed.

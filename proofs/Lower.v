(** Rows that bound one another prove that no policy costs less, or that there is none.

    Claim: [lower] of docs/certificate-format.md; src/ascertain_check/claims/lower.py. [LowerChecker.v] is a checker of it.

    Proved: if every row satisfies conditions 1 and 2 of the format, and the row that the claim names is covered by the
    hypotheses, then every policy that settles the question costs some hypothesis at least the bound of that row; if the
    bound is infinite there is no such policy. Rows may name each other in circles. Labels may be renamed ([covered]). Of an
    action that a row does not name, its number of labels may say enough ([leaves_cost]). A claim with [block] is about the
    quotient; what is proved there holds for the task ([quotient_keeps_policies]). *)

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

Record row := {
  members : list (nat * nat);
  worth : bound;
  moves : nat -> option (nat * nat)  (* for an action a reading and the number of a row *)
}.

(** Labels can be renamed so that each member of R is a renamed member of W; about the current state, R is a subset. *)
Definition covered (M : task) (W R : list (nat * nat)) : Prop :=
  match current M with
  | None => exists f : nat -> nat, forall k s, In (k, s) R -> exists l, In (l, s) W /\ f l = k
  | Some _ => incl R W
  end.

(** Condition 1. *)
Definition two_labels (R : list (nat * nat)) : Prop := exists m n, In m R /\ In n R /\ fst m <> fst n.

Definition share_a_state (R : list (nat * nat)) : Prop :=
  exists m n, In m R /\ In n R /\ snd m = snd n /\ fst m <> fst n.

Definition all_allow (M : task) (R : list (nat * nat)) (a : nat) : Prop :=
  forall m, In m R -> step M (snd m) a <> None.

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

(** Conditions 1 and 2 for one row. *)
Definition consistent (M : task) (rows : list row) (r : row) : Prop :=
  well_labelled M (members r) /\
  two_labels (members r) /\
  (share_a_state (members r) \/
   forall a, all_allow M (members r) a ->
     (exists q, worth r = Some q /\ q <= cost M a) \/
     (exists y i r', moves r a = Some (y, i) /\ nth_error rows i = Some r' /\
       covered M (after M (members r) a y) (members r') /\ reaches (worth r') (worth r) (cost M a)) \/
     current M = None /\ exists ways y, are_ways M ways /\ (0 < count_labels (after M (members r) a y))%nat /\
       reaches (leaves ways (count_labels (after M (members r) a y))) (worth r) (cost M a)).

Lemma covered_state : forall M W R k s, covered M W R -> In (k, s) R -> exists l, In (l, s) W.
Proof.
  intros M W R k s H Hin. unfold covered in H. destruct (current M).
  - exists k. apply H, Hin.
  - destruct H as [f H]. destruct (H _ _ Hin) as [l [H1 _]]. exists l. exact H1.
Qed.

Lemma covered_refl : forall M R, covered M R R.
Proof.
  intros. unfold covered. destruct (current M); [apply incl_refl|].
  exists (fun k => k). intros k s H. exists k. auto.
Qed.

Lemma covered_trans : forall M A B C, covered M A B -> covered M B C -> covered M A C.
Proof.
  intros M A B C H1 H2. unfold covered in *. destruct (current M).
  - eapply incl_tran; eassumption.
  - destruct H1 as [f H1], H2 as [g H2]. exists (fun l => g (f l)). intros k s Hin.
    destruct (H2 _ _ Hin) as [l [Hl Hg]]. destruct (H1 _ _ Hl) as [j [Hj Hf]].
    exists j. split; [assumption|congruence].
Qed.

Lemma covered_after : forall M W R a y, covered M W R -> covered M (after M W a y) (after M R a y).
Proof.
  intros M W R a y H. unfold covered in *. destruct (current M) eqn:E.
  - intros [l s] Hin. apply in_after in Hin. apply in_after. destruct Hin as [l0 [s0 [H1 H2]]].
    exists l0, s0. auto.
  - destruct H as [f H]. exists f. intros k s Hin. apply in_after in Hin.
    destruct Hin as [k0 [s0 [H1 [H2 H3]]]]. destruct (H _ _ H1) as [l [Hl Hf]]. exists l.
    unfold label_after in H3. rewrite E in H3. subst. split; [|reflexivity].
    apply in_after. exists l, s0. unfold label_after. rewrite E. auto.
Qed.

(** Labels of W that R tells apart are different in W. *)
Lemma covered_labels : forall M W R k k' s s', covered M W R -> In (k, s) R -> In (k', s') R -> k <> k' ->
  exists l l', In (l, s) W /\ In (l', s') W /\ l <> l'.
Proof.
  intros M W R k k' s s' H H1 H2 Hne. unfold covered in H. destruct (current M).
  - exists k, k'. auto.
  - destruct H as [f H]. destruct (H _ _ H1) as [l [Hl Hf]]. destruct (H _ _ H2) as [l' [Hl' Hf']].
    exists l, l'. repeat split; auto. congruence.
Qed.

Lemma one_state : forall M p W m n, well_labelled M W -> solves M p W -> In m W -> In n W -> snd m = snd n ->
  fst m = fst n.
Proof.
  intros M p W [l s] [k s'] HW Hs H1 H2 E. simpl in *. subst s'.
  rewrite solves_by_walks in Hs. unfold well_labelled in HW.
  destruct (current M) as [f|] eqn:E.
  - pose proof (HW _ H1). pose proof (HW _ H2). simpl in *. congruence.
  - apply (one_state_one_label M p l k s); auto; unfold label_after; rewrite E; reflexivity.
Qed.

(** A policy for W answers at once only where what W covers has one label, and settles nothing that shares a state. *)
Lemma one_answer : forall M k W R, covered M W R -> solves M (Answer k) W -> ~ two_labels R.
Proof.
  intros M k W R Hcov Hs [[k1 s1] [[k2 s2] [H1 [H2 Hne]]]].
  destruct (covered_labels _ _ _ _ _ _ _ Hcov H1 H2 Hne) as [l1 [l2 [G1 [G2 Gne]]]].
  simpl in Hs. pose proof (Hs _ G1). pose proof (Hs _ G2). simpl in *. congruence.
Qed.

Lemma no_shared_state : forall M p W R, well_labelled M W -> covered M W R -> solves M p W -> ~ share_a_state R.
Proof.
  intros M p W R HW Hcov Hs [[km sm] [[kn sn] [G1 [G2 [G3 G4]]]]]. simpl in *. subst sn.
  destruct (covered_labels _ _ _ _ _ _ _ Hcov G1 G2 G4) as [l1 [l2 [F1 [F2 Fne]]]].
  apply Fne. apply (one_state M p W (l1, sm) (l2, sm)); auto.
Qed.

(** A policy costs some member of R at least b; where b is infinite, that is false. *)
Definition costs_at_least (M : task) (p : policy) (R : list (nat * nat)) (b : bound) : Prop :=
  match b with
  | None => False
  | Some q => exists m, In m R /\ q <= spent M p (snd m)
  end.

(** ** Leaves *)

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

(** A policy whose answers are renamed settles whatever is covered. *)
Fixpoint renamed (f : nat -> nat) (p : policy) : policy :=
  match p with Answer k => Answer (f k) | Ask a next => Ask a (fun y => renamed f (next y)) end.

Lemma renamed_costs_the_same : forall M f p s, spent M (renamed f p) s = spent M p s.
Proof.
  intros M f p. induction p as [k|a next IH]; intros s; simpl; [reflexivity|].
  destruct (step M s a) as [[y s']|]; [rewrite IH|]; reflexivity.
Qed.

Lemma renamed_solves : forall M p W R, current M = None -> covered M W R -> solves M p W ->
  exists f, solves M (renamed f p) R.
Proof.
  intros M p W R Hnow Hcov Hs. unfold covered in Hcov. rewrite Hnow in Hcov. destruct Hcov as [f Hf]. exists f.
  rewrite solves_by_walks in *. intros k s Hin. destruct (Hf _ _ Hin) as [l [Hl E]]. subst k. specialize (Hs _ _ Hl).
  clear Hf Hin Hl. revert l s Hs. induction p as [k|a next IH]; intros l s Hs; simpl in *; [congruence|].
  destruct (step M s a) as [[y s']|]; [|contradiction]. unfold label_after in *. rewrite Hnow in *. apply IH, Hs.
Qed.

Theorem rows_bound_policies : forall M rows,
  costs_are_not_negative M ->
  (forall r, In r rows -> consistent M rows r) ->
  forall p W r, In r rows -> well_labelled M W -> covered M W (members r) -> solves M p W ->
  costs_at_least M p (members r) (worth r).
Proof.
  intros M rows HM Hrows p. induction p as [k|a next IH]; intros W r Hr HW Hcov Hs;
    destruct (Hrows r Hr) as [Hl [Htwo Hmoves]]; [exfalso; exact (one_answer _ _ _ _ Hcov Hs Htwo)|].
  destruct Hmoves as [Hshare|Hmoves]; [exfalso; exact (no_shared_state _ _ _ _ HW Hcov Hs Hshare)|].
  destruct Htwo as [[k1 s1] [_ [H1 _]]]. destruct Hs as [Hallow Hnext].
  assert (Hall : all_allow M (members r) a).
  { intros [k s] Hin. destruct (covered_state _ _ _ _ _ Hcov Hin) as [l Hin2]. apply (Hallow _ Hin2). }
  destruct (Hmoves a Hall) as [[q [Hq Hle]]|[[y [i [r' [Hm [Hi [Hc Hb]]]]]]|[Hnow [ways [y [Hways [Hpos Hb]]]]]]].
  - rewrite Hq. simpl. exists (k1, s1). split; [assumption|]. simpl.
    specialize (Hall _ H1). simpl in Hall. destruct (step M s1 a) as [[y s']|]; [|congruence].
    pose proof (spent_is_not_negative M HM (next y) s'). lra.
  - assert (Hr' : In r' rows) by (eapply nth_error_In; eassumption).
    assert (Hc' : covered M (after M W a y) (members r')).
    { eapply covered_trans; [|exact Hc]. apply covered_after, Hcov. }
    specialize (IH y _ r' Hr' (well_labelled_after M W a y) Hc' (Hnext y)).
    unfold costs_at_least in *. unfold reaches in Hb. destruct (worth r') as [q'|]; [|contradiction].
    destruct (worth r) as [q|]; [|contradiction]. destruct IH as [[k' s'] [Hin Hle]].
    destruct (covered_state _ _ _ _ _ Hc Hin) as [l Hin2]. apply in_after in Hin2.
    destruct Hin2 as [l0 [s0 [Hin2 [Hstep _]]]]. exists (l0, s0). split; [assumption|].
    simpl. rewrite Hstep. simpl in Hle. lra.
  - destruct (renamed_solves M _ _ _ Hnow (covered_after M W (members r) a y Hcov) (Hnext y)) as [f Hf].
    assert (G : costs_at_least M (renamed f (next y)) (after M (members r) a y)
                  (leaves ways (count_labels (after M (members r) a y)))).
    { apply leaves_cost; auto. intros F. rewrite F in Hpos. inversion Hpos. }
    destruct (leaves ways (count_labels (after M (members r) a y))) as [q'|]; [|contradiction].
    unfold reaches in Hb. destruct (worth r) as [q|]; [|contradiction].
    destruct G as [[k' s'] [Hin Hle]]. apply in_after in Hin. destruct Hin as [l0 [s0 [Hin [Hstep _]]]].
    exists (l0, s0). split; [exact Hin|]. simpl. rewrite Hstep. simpl in Hle. rewrite renamed_costs_the_same in Hle. lra.
Qed.

(** The claim: the row that it names is covered by the hypotheses H and reaches the cost. *)
Theorem lower_bound : forall M rows H r b,
  costs_are_not_negative M ->
  well_labelled M H ->
  (forall r', In r' rows -> consistent M rows r') ->
  In r rows -> covered M H (members r) -> reaches (worth r) b 0 ->
  forall p, solves M p H -> costs_at_least M p H b.
Proof.
  intros M rows H r b HM HH Hrows Hr Hc Hb p Hs.
  pose proof (rows_bound_policies M rows HM Hrows p H r Hr HH Hc Hs) as G.
  unfold costs_at_least, reaches in *. destruct (worth r) as [q'|]; [|contradiction].
  destruct b as [q|]; [|contradiction]. destruct G as [[k s] [Hin Hle]].
  destruct (covered_state _ _ _ _ _ Hc Hin) as [l Hin2]. exists (l, s). split; [assumption|]. simpl in *. lra.
Qed.

Corollary no_policy : forall M rows H r,
  costs_are_not_negative M ->
  well_labelled M H ->
  (forall r', In r' rows -> consistent M rows r') ->
  In r rows -> covered M H (members r) -> worth r = None ->
  forall p, ~ solves M p H.
Proof.
  intros M rows H r HM HH Hrows Hr Hc Hb p Hs.
  apply (lower_bound M rows H r None HM HH Hrows Hr Hc) in Hs; [exact Hs|rewrite Hb; exact I].
Qed.

(** ** Classes *)

(** N is the machine of the classes of a stable partition of the states of M. *)
Definition stable (M N : task) (block : nat -> nat) : Prop :=
  (forall s a, step N (block s) a = match step M s a with Some (y, s') => Some (y, block s') | None => None end) /\
  (forall a, cost N a == cost M a) /\
  match current M, current N with
  | None, None => True
  | Some f, Some g => forall s, g (block s) = f s
  | _, _ => False
  end.

Definition classes (block : nat -> nat) (R : list (nat * nat)) := map (fun m => (fst m, block (snd m))) R.

Lemma stable_label : forall M N block l s, stable M N block -> label_after N l (block s) = label_after M l s.
Proof.
  intros M N block l s [_ [_ H]]. unfold label_after. destruct (current M), (current N); auto; contradiction.
Qed.

Theorem quotient_keeps_policies : forall M N block, stable M N block ->
  forall p R, (solves M p R <-> solves N p (classes block R)) /\ forall s, spent N p (block s) == spent M p s.
Proof.
  intros M N block H.
  assert (W : forall p l s, right M p l s <-> right N p l (block s)).
  { induction p as [k|a next IH]; intros l s; simpl; [tauto|]. destruct H as [H H']. rewrite (H s a).
    destruct (step M s a) as [[y s']|]; [|tauto]. rewrite stable_label with (M := M); [apply IH|split; assumption]. }
  intros p R. split.
  - rewrite !solves_by_walks. unfold classes. split; intros G l s Hin.
    + apply in_map_iff in Hin. destruct Hin as [[k t] [E Hin]]. simpl in E. inversion E; subst. apply W, G, Hin.
    + apply W, G. apply in_map_iff. exists (l, s). auto.
  - induction p as [k|a next IH]; intros s; simpl; [reflexivity|]. destruct H as [H [Hc H']]. rewrite (H s a).
    destruct (step M s a) as [[y s']|]; [|reflexivity]. rewrite IH, Hc. reflexivity.
Qed.

(** Rows that bound one another prove that no policy costs less, or that there is none.

    Claim: [lower] of docs/certificate-format.md; src/ascertain_check/claims/lower.py. [LowerChecker.v] is a checker of it.

    Proved: if every row satisfies conditions 1 and 2 of the format, and the row that the claim names is covered by the
    hypotheses, then every policy that settles the question costs some hypothesis at least the bound of that row; if the
    bound is infinite there is no such policy. Rows may name each other in circles. Labels may be renamed ([covered]). Of an
    action that a row does not name, its number of labels may say enough ([Leaves.v]). A claim with [block] is about the
    quotient; what is proved there holds for the task ([quotient_keeps_policies]). *)

From Coq Require Import QArith List Lia Lqa PeanoNat.
From Ascertain Require Import Tasks.
From Ascertain Require Export Leaves.
Import ListNotations.
Open Scope Q_scope.

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

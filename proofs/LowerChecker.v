(** A checker of the claim [lower], with the proof that what it accepts is true.

    Claim: [lower] of docs/certificate-format.md, with [block]; a twin of src/ascertain_check/claims/lower.py, which is run beside
    it (tests/test_proofs.py). It works on lists as the files have them; that files are JSON, and numbers in
    lowest terms, is left to whoever reads them.

    Proved: where [check] returns true, every policy that settles the question of the task costs some hypothesis at least
    what is claimed, and there is none where "inf" is claimed ([checker_is_sound]). *)

From Coq Require Import QArith List Lia Lqa PeanoNat Bool.
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

(** Condition 2 for one action. *)
Definition move_is_sound (N : task) (rows : list table_row) (r : table_row) (a : nat) : bool :=
  negb (all_allow_b N (set r) a) ||
  match set_bound r with Some q => Qle_bool q (cost N a) | None => false end ||
  match find_move a (named r) with
  | Some (y, i) =>
      match nth_error rows i with
      | Some r' => covers (after N (set r) a y) (set r') && reaches_b (set_bound r') (set_bound r) (cost N a)
      | None => false
      end
  | None => false
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
  (share_a_state_b (set r) || forallb (move_is_sound N (table_rows C) r) (seq 0 (length (costs T)))).

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

(** ** Its proof *)

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

Lemma first_of_nothing : forall block c s, Forall (fun x => x <> c) block -> first_of c block s = None.
Proof.
  induction block0 as [|x rest IH]; intros c s H; simpl; [reflexivity|]. inversion H; subst.
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
    + right. simpl. destruct (find_move a (named r)) as [[y i]|]; [|discriminate].
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

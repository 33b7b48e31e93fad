(** Shares of what the steps of a reference cost prove that no policy costs less: counting and packing.

    Claim: [shares] of docs/certificate-format.md, for questions about the start; src/ascertain_check/claims/shares.py.

    Proved: let shares and potential fit the costs of all steps that the reference can make. Then every policy that settles the
    question costs some hypothesis at least (the sum of the distances of the rivals) + p(start) - (the largest p), where the
    reference is a hypothesis h ([shares_of_a_hypothesis]); with fixed readings one of the distances is left out of the sum
    ([shares_of_readings], whatever the states of the reference are: one, or joint states). Costs are multiples of a common unit, so bounds may be rounded up to one ([rounding]). A distance may
    be replaced by anything less; that a checker computes it rightly is not part of this. For [block] see [Lower.v]. *)

From Coq Require Import QArith Qround Qminmax List Lia Lqa PeanoNat.
From Ascertain Require Import Sums Tasks Lower.
Import ListNotations.
Open Scope Q_scope.

Section Shares.
Variable M : task.
Hypothesis about_the_start : current M = None.
Hypothesis costs : costs_are_not_negative M.

(** The reference: what a state of it reads at an action, and where that leads. *)
Variable refer : nat -> nat -> option (nat * nat).

(** Shares of the step (r, a): lists of labels and of states, with their shares. *)
Variables label_shares state_shares : nat -> nat -> list (nat * Q).
Hypothesis shares_are_not_negative : forall r a m, In m (label_shares r a) \/ In m (state_shares r a) -> 0 <= snd m.

Definition share (r a k z : nat) : Q :=
  weight_at Nat.eq_dec k (label_shares r a) + weight_at Nat.eq_dec z (state_shares r a).

Variable potential : nat -> Q.
Variable largest : Q.

(** What the reference reaches. *)
Variable reached : nat -> Prop.
Hypothesis reached_step : forall r a y r', reached r -> refer r a = Some (y, r') -> reached r'.
Hypothesis largest_potential : forall r, reached r -> potential r <= largest.
Hypothesis shares_fit : forall r a y r', reached r -> refer r a = Some (y, r') ->
  sum snd (label_shares r a) + sum snd (state_shares r a) + potential r - potential r' <= cost M a.

(** A word at whose last action, and not before, label k from state z reads something else than the reference from r; with
    the sum of its shares. *)
Inductive diverges (k : nat) : nat -> nat -> Q -> Prop :=
| diverges_now : forall r z a y r' y' z', refer r a = Some (y, r') -> step M z a = Some (y', z') -> y <> y' ->
    diverges k r z (share r a k z)
| diverges_later : forall r z a y r' z' q, refer r a = Some (y, r') -> step M z a = Some (y, z') ->
    diverges k r' z' q -> diverges k r z (share r a k z + q).

(** d is at most the distance. *)
Definition far (k r z : nat) (d : Q) : Prop := forall q, diverges k r z q -> d <= q.

(** Rivals ((label, state), d) that agree so far with the reference in r. *)
Definition rivals := list ((nat * nat) * Q).

Definition standing (R : list (nat * nat)) (r : nat) (A : rivals) : Prop :=
  (forall x, In x A -> In (fst x) R /\ 0 <= snd x /\ far (fst (fst x)) r (snd (fst x)) (snd x)) /\
  NoDup (map (fun x => fst (fst x)) A).

Definition left_of (r a y : nat) (x : (nat * nat) * Q) : rivals :=
  match step M (snd (fst x)) a with
  | Some (y', z') =>
      if Nat.eqb y' y then [((fst (fst x), z'), Qmax 0 (snd x - share r a (fst (fst x)) (snd (fst x))))] else []
  | None => []
  end.

Definition advance (A : rivals) (r a y : nat) : rivals := flat_map (left_of r a y) A.

Lemma weight_is_not_negative : forall k (L : list (nat * Q)), (forall m, In m L -> 0 <= snd m) -> 0 <= weight_at Nat.eq_dec k L.
Proof.
  intros k L H. unfold weight_at. apply sum_is_not_negative. intros m Hm. destruct (Nat.eq_dec (fst m) k); [apply H, Hm|lra].
Qed.

Lemma share_is_not_negative : forall r a k z, 0 <= share r a k z.
Proof.
  intros. unfold share. pose proof (shares_are_not_negative r a) as H.
  assert (0 <= weight_at Nat.eq_dec k (label_shares r a)) by (apply weight_is_not_negative; auto).
  assert (0 <= weight_at Nat.eq_dec z (state_shares r a)) by (apply weight_is_not_negative; auto). lra.
Qed.

(** Different keys share no more than there is. *)
Lemma different_keys : forall keys (L : list (nat * Q)), NoDup keys -> (forall m, In m L -> 0 <= snd m) ->
  sum (fun k => weight_at Nat.eq_dec k L) keys <= sum snd L.
Proof.
  intros keys L Hnd H. unfold weight_at. rewrite sum_swap. apply sum_le. intros [k w] Hm. simpl. specialize (H _ Hm). simpl in H.
  destruct (in_dec Nat.eq_dec k keys) as [Hin|Hin].
  - apply Qle_lteq. right.
    rewrite (sum_ext _ (fun z => (if Nat.eq_dec k z then w else 0) * 1)) by (intros; ring).
    rewrite (sum_one_key Nat.eq_dec (fun _ => 1) w k keys Hnd Hin). ring.
  - rewrite (sum_ext _ (fun _ => 0)); [rewrite sum_zero; exact H|].
    intros z Hz. destruct (Nat.eq_dec k z); [subst; contradiction|reflexivity].
Qed.

(** Rivals that agree are in different states: two in one state would get one answer. *)
Lemma different_states : forall p R r A, solves M p R -> standing R r A -> NoDup (map (fun x => snd (fst x)) A).
Proof.
  intros p R r A Hs [HA Hnd]. induction A as [|[[k z] d] A IH]; simpl; [constructor|].
  simpl in Hnd. inversion Hnd as [|? ? Hnot Hnd']; subst. constructor.
  - intros Hin. apply in_map_iff in Hin. destruct Hin as [[[k' z'] d'] [E Hin]]. simpl in E. subst z'.
    apply Hnot. apply in_map_iff. exists ((k', z), d'). split; [|assumption]. simpl.
    rewrite solves_by_walks in Hs. destruct (HA _ (or_introl eq_refl)) as [H1 _]. destruct (HA _ (or_intror Hin)) as [H2 _].
    apply (one_state_one_label M p k' k z); [apply Hs, H2|apply Hs, H1| |]; unfold label_after; rewrite about_the_start; reflexivity.
  - apply IH; [|assumption]. intros x Hx. apply HA. right. exact Hx.
Qed.

Lemma shares_of_a_step : forall p R r a y r' A, solves M p R -> standing R r A -> reached r -> refer r a = Some (y, r') ->
  sum (fun x => share r a (fst (fst x)) (snd (fst x))) A <= cost M a - potential r + potential r'.
Proof.
  intros p R r a y r' A Hs HA Hr E. pose proof (different_states p R r A Hs HA) as Hz. destruct HA as [_ Hk].
  pose proof (shares_are_not_negative r a) as Hpos. pose proof (shares_fit r a y r' Hr E) as Hfit.
  unfold share. rewrite sum_plus.
  rewrite <- (sum_map _ (fun x : (nat * nat) * Q => fst (fst x)) (fun k => weight_at Nat.eq_dec k (label_shares r a))).
  rewrite <- (sum_map _ (fun x : (nat * nat) * Q => snd (fst x)) (fun z => weight_at Nat.eq_dec z (state_shares r a))).
  pose proof (different_keys _ (label_shares r a) Hk (fun m Hm => Hpos m (or_introl Hm))).
  pose proof (different_keys _ (state_shares r a) Hz (fun m Hm => Hpos m (or_intror Hm))). lra.
Qed.

Lemma in_advance : forall A r a y x', In x' (advance A r a y) ->
  exists k z d z', In ((k, z), d) A /\ step M z a = Some (y, z') /\ x' = ((k, z'), Qmax 0 (d - share r a k z)).
Proof.
  intros A r a y x' H. unfold advance in H. apply in_flat_map in H. destruct H as [[[k z] d] [Hin H]].
  unfold left_of in H. simpl in H. destruct (step M z a) as [[y' z']|] eqn:E; [|contradiction].
  destruct (Nat.eqb_spec y' y); [|contradiction]. destruct H as [H|[]]. subst. exists k, z, d, z'. auto.
Qed.

Lemma standing_after : forall R r a y r' A, standing R r A -> refer r a = Some (y, r') ->
  standing (after M R a y) r' (advance A r a y).
Proof.
  intros R r a y r' A [HA Hnd] E. split.
  - intros x' Hx'. destruct (in_advance _ _ _ _ _ Hx') as [k [z [d [z' [Hin [Es Ex]]]]]]. subst. simpl.
    destruct (HA _ Hin) as [H1 [H2 H3]]. simpl in *. split; [|split].
    + apply in_after. exists k, z. unfold label_after. rewrite about_the_start. auto.
    + apply Q.le_max_l.
    + intros q Hq. apply Q.max_lub.
      * clear -Hq shares_are_not_negative. induction Hq; [apply share_is_not_negative|].
        pose proof (share_is_not_negative r a k z). lra.
      * pose proof (H3 _ (diverges_later k r z a y r' z' q E Es Hq)). lra.
  - clear HA. induction A as [|[[k z] d] A IH]; simpl in *; [constructor|]. inversion Hnd as [|? ? Hnot Hnd']; subst.
    unfold left_of at 1. simpl. destruct (step M z a) as [[y' z']|]; [|apply IH, Hnd'].
    destruct (Nat.eqb y' y); [|apply IH, Hnd']. simpl. constructor; [|apply IH, Hnd'].
    intros Hin. apply Hnot. apply in_map_iff in Hin. destruct Hin as [x' [Ex Hin]].
    destruct (in_advance _ _ _ _ _ Hin) as [k2 [z2 [d2 [z2' [Hin2 [_ Ex2]]]]]]. subst x'. simpl in Ex. subst k2.
    apply in_map_iff. exists ((k, z2), d2). auto.
Qed.

(** What a step takes from the distances is at most what it shares. *)
Lemma distances_after : forall R r a y r' A, standing R r A -> refer r a = Some (y, r') ->
  (forall x, In x A -> step M (snd (fst x)) a <> None) ->
  sum snd A <= sum snd (advance A r a y) + sum (fun x => share r a (fst (fst x)) (snd (fst x))) A.
Proof.
  intros R r a y r' A [HA _] E Hall. unfold advance. rewrite sum_flat_map, <- sum_plus. apply sum_le.
  intros [[k z] d] Hin. destruct (HA _ Hin) as [_ [_ Hfar]]. specialize (Hall _ Hin). simpl in *.
  unfold left_of. simpl. destruct (step M z a) as [[y' z']|] eqn:Es; [|congruence]. destruct (Nat.eqb_spec y' y) as [F|F].
  - simpl. pose proof (Q.le_max_r 0 (d - share r a k z)). lra.
  - simpl. assert (Hne : y <> y') by congruence. pose proof (Hfar _ (diverges_now k r z a y r' y' z' E Es Hne)). lra.
Qed.

(** ** The reference is a hypothesis *)

Theorem shares_of_a_hypothesis : (forall s a, refer s a = step M s a) ->
  forall p R r A own, solves M p R -> reached r -> In (own, r) R -> standing R r A ->
  (forall x, In x A -> fst (fst x) <> own) ->
  exists m, In m R /\ sum snd A + potential r - largest <= spent M p (snd m).
Proof.
  intros Href p. induction p as [j|a next IH]; intros R r A own Hs Hr Hown HA Hlab.
  - exists (own, r). split; [assumption|]. simpl in *. pose proof (largest_potential r Hr).
    destruct A as [|[[k z] d] A]; simpl; [lra|]. exfalso.
    destruct HA as [HA _]. destruct (HA _ (or_introl eq_refl)) as [Hin _].
    apply (Hlab _ (or_introl eq_refl)). pose proof (Hs _ Hin). pose proof (Hs _ Hown). simpl in *. congruence.
  - pose proof Hs as [Hall Hnext]. pose proof (Hall _ Hown) as Hallow. simpl in Hallow.
    destruct (step M r a) as [[y r']|] eqn:Es; [|congruence].
    assert (E : refer r a = Some (y, r')) by (rewrite Href; exact Es).
    assert (HallA : forall x, In x A -> step M (snd (fst x)) a <> None).
    { intros x Hx. apply Hall. destruct HA as [HA _]. apply (HA _ Hx). }
    destruct (IH y (after M R a y) r' (advance A r a y) own (Hnext y)) as [[l s'] [Hm Hle]].
    + exact (reached_step r a y r' Hr E).
    + apply in_after. exists own, r. unfold label_after. rewrite about_the_start. auto.
    + exact (standing_after R r a y r' A HA E).
    + intros x' Hx'. destruct (in_advance _ _ _ _ _ Hx') as [k [z [d [z' [Hin [_ Ex]]]]]]. subst. simpl.
      exact (Hlab _ Hin).
    + apply in_after in Hm. destruct Hm as [l0 [s [Hm [Hstep _]]]]. exists (l0, s). split; [assumption|].
      pose proof (distances_after R r a y r' A HA E HallA).
      pose proof (shares_of_a_step _ R r a y r' A Hs HA Hr E).
      simpl in *. rewrite Hstep. lra.
Qed.

(** ** Fixed readings *)

Theorem shares_of_readings : (forall r a, refer r a <> None) ->
  forall p R r A, solves M p R -> reached r -> standing R r A -> A <> [] ->
  exists m x, In m R /\ In x A /\ sum snd A - snd x + potential r - largest <= spent M p (snd m).
Proof.
  intros Href p. induction p as [j|a next IH]; intros R r A Hs Hr HA Hne.
  - destruct A as [|x A]; [congruence|]. exists (fst x), x. pose proof HA as [HA' Hnd].
    destruct (HA' _ (or_introl eq_refl)) as [Hin _]. split; [assumption|]. split; [left; reflexivity|].
    destruct A as [|x' A].
    + simpl. pose proof (largest_potential r Hr). lra.
    + exfalso. destruct (HA' _ (or_intror (or_introl eq_refl))) as [Hin' _]. simpl in Hs, Hnd.
      inversion Hnd as [|? ? Hnot _]; subst. apply Hnot. left. rewrite (Hs _ Hin), (Hs _ Hin'). reflexivity.
  - pose proof Hs as [Hall Hnext]. destruct (refer r a) as [[y r']|] eqn:E; [|exfalso; apply (Href r a E)].
    assert (HallA : forall x, In x A -> step M (snd (fst x)) a <> None).
    { intros x Hx. apply Hall. destruct HA as [HA _]. apply (HA _ Hx). }
    pose proof (distances_after R r a y r' A HA E HallA) as Hd.
    pose proof (shares_of_a_step _ R r a y r' A Hs HA Hr E) as Hc.
    pose proof (reached_step r a y r' Hr E) as Hr'.
    destruct (advance A r a y) as [|x0 A0] eqn:EA.
    + destruct A as [|x A]; [congruence|]. exists (fst x), x. pose proof HA as [HA' _].
      destruct (HA' _ (or_introl eq_refl)) as [Hin [Hpos _]]. split; [assumption|]. split; [left; reflexivity|].
      specialize (HallA _ (or_introl eq_refl)). destruct x as [[k z] d]. simpl fst in *. simpl snd in *. simpl spent.
      destruct (step M z a) as [[y2 z2]|]; [|congruence].
      pose proof (spent_is_not_negative M costs (next y2) z2). pose proof (largest_potential r' Hr'). simpl sum in *. lra.
    + destruct (IH y (after M R a y) r' (advance A r a y) (Hnext y) Hr') as [[l s'] [x' [Hm [Hx' Hle]]]].
      * exact (standing_after R r a y r' A HA E).
      * rewrite EA. discriminate.
      * destruct (in_advance _ _ _ _ _ Hx') as [k [z [d [z' [Hin [_ Ex]]]]]].
        apply in_after in Hm. destruct Hm as [l0 [s [Hm [Hstep _]]]].
        exists (l0, s), ((k, z), d). split; [assumption|]. split; [assumption|].
        assert (Hless : snd x' <= d).
        { subst x'. simpl. destruct HA as [HA _]. destruct (HA _ Hin) as [_ [Hpos _]]. simpl in Hpos.
          apply Q.max_lub; [assumption|]. pose proof (share_is_not_negative r a k z). lra. }
        rewrite EA in Hle. simpl snd in *. simpl spent. rewrite Hstep. lra.
Qed.
End Shares.

(** ** Rounding *)

(** Costs that are multiples of a unit make what is spent one; a bound may be rounded up. *)
Theorem rounding : forall M u, 0 < u -> (forall a, exists n : Z, cost M a == inject_Z n * u) ->
  forall p s B, B <= spent M p s -> inject_Z (Qceiling (B / u)) * u <= spent M p s.
Proof.
  intros M u Hu Hc p s B HB.
  assert (G : forall p s, exists n : Z, spent M p s == inject_Z n * u).
  { clear p s HB. induction p as [k|a next IH]; intros s; simpl.
    - exists 0%Z. ring.
    - destruct (step M s a) as [[y s']|]; [|exists 0%Z; ring]. destruct (IH y s') as [n Hn]. destruct (Hc a) as [m Hm].
      exists (m + n)%Z. rewrite Hn, Hm, inject_Z_plus. ring. }
  destruct (G p s) as [n Hn]. rewrite Hn in HB. rewrite Hn. apply Qmult_le_compat_r; [|lra].
  assert (L : B / u <= inject_Z n) by (apply Qle_shift_div_r; assumption).
  apply Qceiling_resp_le in L. rewrite Qceiling_Z in L. rewrite <- Zle_Qle. exact L.
Qed.

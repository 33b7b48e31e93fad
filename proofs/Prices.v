(** Prices of errors, and rows that bound one another: no observer within stated risks costs less.

    Claim: [prices] of docs/certificate-format.md, and conditions 1 and 2 that [openings] uses too;
    src/ascertain_check/claims/prices.py.

    Proved: if rows satisfy conditions 1 and 2 of the format, every observer whose paths are finite, also one that draws at random,
    has a priced sum of at least the bound of each row, wherever all members of the row may be true
    ([rows_bound_priced_sums]). If it errs with probability at most alpha and abstains with probability at most beta under
    every hypothesis, then condition 3 makes [cost] a lower bound of its worst expected cost ([prices_bound_the_cost]). A row
    is worth lambda times its bound for any lambda >= 0 with lambda x <= z; the checker takes the largest. *)

From Coq Require Import QArith List Lqa PeanoNat.
From Ascertain Require Import Sums Obstruction LowerExpected.
Import ListNotations.
Open Scope Q_scope.

Section Prices.
Variable M : noisy.
Hypothesis laws : laws_are_laws M.
Variable cost : nat -> Q.
Variable cheapest : Q.
Hypothesis costs : forall a, 0 <= cheapest <= cost a.

(** A class of prices: its label, and the prices of a unit of cost, of a wrong answer and of an abstention. *)
Variable label_of : nat -> nat.
Variables w A B : nat -> Q.
Hypothesis prices_are_not_negative : forall j, 0 <= w j /\ 0 <= A j /\ 0 <= B j.

(** All that can be read. *)
Variable Y : list nat.
Hypothesis each_once : NoDup Y.
Hypothesis all_readings : forall i y p, In (y, p) (law M i) -> In y Y.

(** The label of a member (j, c): that of its class, or about the current state that of its state. *)
Definition label_at (j c : nat) : nat := match label_now M with None => label_of j | Some f => f c end.

(** Members (j, c) with their numbers; one that stands twice has the sum. *)
Definition vector := list ((nat * nat) * Q).
Definition not_negative (z : vector) : Prop := forall m, In m z -> 0 <= snd m.

(** All members may still be true. *)
Definition may_be_true (z : vector) (R : list (nat * nat)) : Prop :=
  forall j c x, In ((j, c), x) z -> In (label_at j c, c) R.

(** What an observer costs from c on, at the prices of class j. *)
Fixpoint priced (o : observer) (j c : nat) : Q :=
  match o with
  | Conclude None => B j
  | Conclude (Some k) => if Nat.eqb k (label_at j c) then 0 else A j
  | Toss q heads tails => q * priced heads j c + (1 - q) * priced tails j c
  | Try a next =>
      match leads M c a with
      | None => 0
      | Some (c', i) => w j * cost a + sum (fun yp => snd yp * priced (next (fst yp)) j c') (law M i)
      end
  end.

Definition priced_sum (o : observer) (z : vector) : Q := sum (fun m => snd m * priced o (fst (fst m)) (snd (fst m))) z.

Definition mass (z : vector) : Q := sum (fun m => snd m * w (fst (fst m))) z.
Definition abstaining (z : vector) : Q := sum (fun m => snd m * B (fst (fst m))) z.
Definition answering (k : nat) (z : vector) : Q :=
  sum (fun m => snd m * (if Nat.eqb k (label_at (fst (fst m)) (snd (fst m))) then 0 else A (fst (fst m)))) z.

(** At most what stopping costs. *)
Definition below_stop (b : Q) (z : vector) : Prop := b <= abstaining z /\ forall k, b <= answering k z.

(** The vector after a and y. *)
Definition vector_after (z : vector) (a y : nat) : vector :=
  flat_map (fun m => match leads M (snd (fst m)) a with
                     | Some (c', i) =>
                         map (fun yp => ((fst (fst m), c'), snd m * snd yp)) (filter (fun yp => Nat.eqb (fst yp) y) (law M i))
                     | None => []
                     end) z.

Record price_row := {
  numbers : vector;
  price_bound : Q;
  price_named : nat -> nat -> option (nat * Q)  (* for an action and a reading a row, and how many times it counts *)
}.

(** Row r' counts lambda times at z. *)
Definition lies_below (r' : price_row) (lambda : Q) (z : vector) : Prop :=
  0 <= lambda /\ (forall m, In m (numbers r') -> In (fst m) (map fst z)) /\
  forall m, lambda * weight_at same_pair m (numbers r') <= weight_at same_pair m z.

(** Conditions 1 and 2 for one row: [worth a y] is what is counted for the reading y of a. *)
Definition price_row_is_consistent (rows : list price_row) (r : price_row) : Prop :=
  not_negative (numbers r) /\
  below_stop (price_bound r) (numbers r) /\
  forall a, (forall m, In m (numbers r) -> leads M (snd (fst m)) a <> None) ->
  exists worth : nat -> Q,
    price_bound r <= cost a * mass (numbers r) + sum worth Y /\
    forall y, In y Y -> let z := vector_after (numbers r) a y in
      match price_named r a y with
      | Some (i, lambda) =>
          exists r', nth_error rows i = Some r' /\ lies_below r' lambda z /\ worth y <= lambda * price_bound r'
      | None => worth y <= cheapest * mass z /\ below_stop (worth y) z
      end.

Lemma priced_is_not_negative : forall o R j c, keeps_to M o R -> In (label_at j c, c) R -> 0 <= priced o j c.
Proof.
  induction o as [k|a next IH|q heads IHh tails IHt]; intros R j c Hk Hin; simpl in *.
  - pose proof (prices_are_not_negative j). destruct k as [k|]; [destruct (Nat.eqb k (label_at j c))|]; lra.
  - destruct (leads M c a) as [[c' i]|] eqn:E; [|lra]. pose proof (prices_are_not_negative j) as [Hw _].
    assert (0 <= w j * cost a) by (apply Qmult_le_0_compat; [|pose proof (costs a)]; lra).
    assert (0 <= sum (fun yp => snd yp * priced (next (fst yp)) j c') (law M i)); [|lra].
    apply sum_is_not_negative. intros [y p] Hy. simpl. destruct (laws i) as [Hp _]. specialize (Hp _ _ Hy).
    apply Qmult_le_0_compat; [lra|]. apply (IH y (remain M R a y)); [apply Hk|].
    replace (label_at j c') with (new_label M (label_at j c) c').
    + eapply in_remain; eassumption.
    + unfold new_label, label_at. destruct (label_now M); reflexivity.
  - destruct Hk as [Hq [Hh Ht]]. specialize (IHh R j c Hh Hin). specialize (IHt R j c Ht Hin).
    assert (0 <= q * priced heads j c) by (apply Qmult_le_0_compat; lra).
    assert (0 <= (1 - q) * priced tails j c) by (apply Qmult_le_0_compat; lra). lra.
Qed.

Lemma may_be_true_after : forall z R a y, may_be_true z R -> may_be_true (vector_after z a y) (remain M R a y).
Proof.
  intros z R a y H j c' x Hin. unfold vector_after in Hin. apply in_flat_map in Hin. destruct Hin as [[[j0 c] x0] [Hin Hy]].
  simpl in Hy. destruct (leads M c a) as [[c1 i]|] eqn:E; [|contradiction]. apply in_map_iff in Hy.
  destruct Hy as [[y' p] [Eq Hy]]. apply filter_In in Hy. destruct Hy as [Hy Hyy]. simpl in *. apply Nat.eqb_eq in Hyy. subst y'.
  inversion Eq; subst. replace (label_at j c') with (new_label M (label_at j c) c').
  - eapply in_remain; [exact (H _ _ _ Hin)|exact E|exact Hy].
  - unfold new_label, label_at. destruct (label_now M); reflexivity.
Qed.

Lemma not_negative_after : forall z a y, not_negative z -> not_negative (vector_after z a y).
Proof.
  intros z a y H m Hin. unfold vector_after in Hin. apply in_flat_map in Hin. destruct Hin as [[[j c] x] [Hin Hy]]. simpl in Hy.
  destruct (leads M c a) as [[c' i]|]; [|contradiction]. apply in_map_iff in Hy. destruct Hy as [[y' p] [E Hy]].
  apply filter_In in Hy. destruct Hy as [Hy _]. subst. simpl. destruct (laws i) as [Hp _]. specialize (Hp _ _ Hy).
  specialize (H _ Hin). simpl in H. apply Qmult_le_0_compat; lra.
Qed.

(** The first action costs its price, and each reading what the observer costs after it. *)
Lemma priced_sum_of_a_step : forall a next z, (forall m, In m z -> leads M (snd (fst m)) a <> None) ->
  priced_sum (Try a next) z == cost a * mass z + sum (fun y => priced_sum (next y) (vector_after z a y)) Y.
Proof.
  intros a next z Hall. unfold priced_sum, mass, vector_after. rewrite <- sum_scale.
  rewrite (sum_ext _ (fun y => sum (fun m => match leads M (snd (fst m)) a with
      | Some (c', i) => sum (fun yp => (if Nat.eq_dec (fst yp) y then snd m * snd yp else 0) * priced (next y) (fst (fst m)) c') (law M i)
      | None => 0 end) z) Y).
  - rewrite sum_swap, <- sum_plus. apply sum_ext. intros [[j c] x] Hin. simpl. specialize (Hall _ Hin). simpl in Hall.
    destruct (leads M c a) as [[c' i]|]; [|congruence]. rewrite sum_swap.
    rewrite (sum_ext (fun yp => sum _ Y) (fun yp => x * (snd yp * priced (next (fst yp)) j c'))).
    + rewrite sum_scale. ring.
    + intros [y p] Hy. simpl. rewrite (sum_one_key Nat.eq_dec (fun y => priced (next y) j c') (x * p) y Y each_once); [ring|].
      exact (all_readings i y p Hy).
  - intros y _. rewrite sum_flat_map. apply sum_ext. intros [[j c] x] _. simpl.
    destruct (leads M c a) as [[c' i]|]; [|reflexivity]. rewrite sum_map, sum_filter. apply sum_ext. intros [y' p] _. simpl.
    destruct (Nat.eqb_spec y' y), (Nat.eq_dec y' y); try congruence; ring.
Qed.

Lemma priced_sum_of_an_ending : forall k z, priced_sum (Conclude k) z == match k with Some k => answering k z | None => abstaining z end.
Proof. intros [k|] z; reflexivity. Qed.

Lemma priced_sum_of_a_toss : forall q heads tails z,
  priced_sum (Toss q heads tails) z == q * priced_sum heads z + (1 - q) * priced_sum tails z.
Proof.
  intros. unfold priced_sum. rewrite <- !sum_scale, <- sum_plus. apply sum_ext. intros [[j c] x] _. simpl. ring.
Qed.

Lemma between : forall q u v b, 0 <= q <= 1 -> b <= u -> b <= v -> b <= q * u + (1 - q) * v.
Proof.
  intros q u v b Hq Hu Hv. setoid_replace b with (q * b + (1 - q) * b) by ring.
  apply Qplus_le_compat; [rewrite !(Qmult_comm q)|rewrite !(Qmult_comm (1 - q))]; apply Qmult_le_compat_r; lra.
Qed.

(** Whoever does not stop spends at least what the cheapest action costs. *)
Lemma one_step : forall b z, not_negative z -> b <= cheapest * mass z -> below_stop b z ->
  forall o R, keeps_to M o R -> may_be_true z R -> b <= priced_sum o z.
Proof.
  intros b z Hz Hm [Hb Ha] o. induction o as [k|a next IH|q heads IHh tails IHt]; intros R Hk HR.
  - rewrite priced_sum_of_an_ending. destruct k; auto.
  - destruct Hk as [Hall Hnext]. eapply Qle_trans; [exact Hm|].
    assert (HallZ : forall m, In m z -> leads M (snd (fst m)) a <> None).
    { intros [[j c] x] Hin. apply (Hall _ (HR _ _ _ Hin)). }
    rewrite (priced_sum_of_a_step a next z HallZ).
    assert (G1 : cheapest * mass z <= cost a * mass z).
    { apply Qmult_le_compat_r; [apply costs|]. unfold mass. apply sum_is_not_negative. intros m Hin.
      apply Qmult_le_0_compat; [apply Hz, Hin|apply prices_are_not_negative]. }
    assert (G2 : 0 <= sum (fun y => priced_sum (next y) (vector_after z a y)) Y); [|lra].
    apply sum_is_not_negative. intros y _. unfold priced_sum. apply sum_is_not_negative. intros [[j c] x] Hin. simpl.
    apply Qmult_le_0_compat; [apply (not_negative_after z a y Hz _ Hin)|].
    apply (priced_is_not_negative (next y) (remain M R a y)); [apply Hnext|].
    exact (may_be_true_after z R a y HR j c x Hin).
  - destruct Hk as [Hq [Hh Ht]]. rewrite priced_sum_of_a_toss. apply between; [assumption|eapply IHh|eapply IHt]; eassumption.
Qed.

(** What lies below costs no more. *)
Lemma priced_sum_below : forall o R r' lambda z, keeps_to M o R -> not_negative z -> may_be_true z R -> lies_below r' lambda z ->
  lambda * priced_sum o (numbers r') <= priced_sum o z.
Proof.
  intros o R r' lambda z Hk Hz HR [Hl [Hin Hw]].
  set (good := fun m : nat * nat => if in_dec same_pair m (map fst z) then priced o (fst m) (snd m) else 0).
  assert (Eg : forall m, In m (map fst z) -> good m == priced o (fst m) (snd m)).
  { intros m Hm. unfold good. destruct (in_dec same_pair m (map fst z)); [reflexivity|contradiction]. }
  assert (E1 : lambda * priced_sum o (numbers r') == sum (fun m => snd m * good (fst m)) (map (fun m => (fst m, lambda * snd m)) (numbers r'))).
  { rewrite sum_map. unfold priced_sum. rewrite <- sum_scale. apply sum_ext. intros m Hm. simpl.
    rewrite (Eg (fst m) (Hin m Hm)). ring. }
  assert (E2 : priced_sum o z == sum (fun m => snd m * good (fst m)) z).
  { unfold priced_sum. apply sum_ext. intros m Hm. rewrite (Eg (fst m)); [reflexivity|]. apply in_map, Hm. }
  rewrite E1, E2. apply (domination same_pair good).
  - intros [j c]. unfold good. destruct (in_dec same_pair (j, c) (map fst z)) as [H|_]; [|lra].
    apply in_map_iff in H. destruct H as [[[j' c'] x] [E H]]. simpl in E. inversion E; subst.
    apply (priced_is_not_negative o R); [assumption|]. exact (HR _ _ _ H).
  - intros m. eapply Qle_trans; [|apply Hw]. unfold weight_at. rewrite sum_map, <- sum_scale. apply Qle_lteq. right.
    apply sum_ext. intros n _. simpl. destruct (same_pair (fst n) m); ring.
Qed.

Theorem rows_bound_priced_sums : forall rows, (forall r, In r rows -> price_row_is_consistent rows r) ->
  forall o R r, In r rows -> keeps_to M o R -> may_be_true (numbers r) R -> price_bound r <= priced_sum o (numbers r).
Proof.
  intros rows Hrows o. induction o as [k|a next IH|q heads IHh tails IHt]; intros R r Hr Hk HR;
    destruct (Hrows r Hr) as [Hpos [[Hb Ha] Hmoves]].
  - rewrite priced_sum_of_an_ending. destruct k; auto.
  - destruct Hk as [Hall Hnext].
    assert (HallZ : forall m, In m (numbers r) -> leads M (snd (fst m)) a <> None).
    { intros [[j c] x] Hin. apply (Hall _ (HR _ _ _ Hin)). }
    destruct (Hmoves a HallZ) as [worth [Hle Hworth]]. rewrite (priced_sum_of_a_step a next _ HallZ).
    eapply Qle_trans; [exact Hle|]. apply Qplus_le_compat; [apply Qle_refl|]. apply sum_le. intros y Hy.
    specialize (Hworth y Hy). simpl in Hworth.
    pose proof (may_be_true_after _ R a y HR) as HR'. pose proof (not_negative_after _ a y Hpos) as Hpos'.
    destruct (price_named r a y) as [[i lambda]|].
    + destruct Hworth as [r' [Ei [Hl Hw]]]. eapply Qle_trans; [exact Hw|].
      eapply Qle_trans; [|exact (priced_sum_below (next y) _ r' lambda _ (Hnext y) Hpos' HR' Hl)].
      destruct Hl as [Hl [Hin _]]. rewrite !(Qmult_comm lambda). apply Qmult_le_compat_r; [|assumption].
      apply (IH y (remain M R a y) r' (nth_error_In _ _ Ei) (Hnext y)).
      intros j c x Hm. specialize (Hin _ Hm). simpl in Hin. apply in_map_iff in Hin. destruct Hin as [[[j' c'] x'] [E Hin]].
      simpl in E. inversion E; subst. exact (HR' _ _ _ Hin).
    + destruct Hworth as [Hm Hs]. exact (one_step _ _ Hpos' Hm Hs (next y) _ (Hnext y) HR').
  - destruct Hk as [Hq [Hh Ht]]. rewrite priced_sum_of_a_toss. apply between; [assumption|eapply IHh|eapply IHt]; eassumption.
Qed.

(** ** From prices to costs *)

(** The expected cost of an observer that starts in s. *)
Fixpoint expected (o : observer) (s : nat) : Q :=
  match o with
  | Conclude _ => 0
  | Toss q heads tails => q * expected heads s + (1 - q) * expected tails s
  | Try a next =>
      match leads M s a with
      | None => 0
      | Some (s', i) => cost a + sum (fun yp => snd yp * expected (next (fst yp)) s') (law M i)
      end
  end.

Lemma priced_in_parts : forall o R j c, keeps_to M o R -> In (label_at j c, c) R ->
  priced o j c == w j * expected o c + A j * chance M is_wrong o (label_at j c) c + B j * chance M is_none o (label_at j c) c.
Proof.
  induction o as [k|a next IH|q heads IHh tails IHt]; intros R j c Hk Hin; simpl in *.
  - destruct k as [k|]; simpl; [destruct (Nat.eqb k (label_at j c)); simpl|]; ring.
  - destruct Hk as [Hall Hnext]. specialize (Hall _ Hin). simpl in Hall. destruct (leads M c a) as [[c' i]|] eqn:E; [|congruence].
    assert (El : new_label M (label_at j c) c' = label_at j c').
    { unfold new_label, label_at. destruct (label_now M); reflexivity. }
    rewrite El. rewrite (sum_ext _ (fun yp => w j * (snd yp * expected (next (fst yp)) c') +
        (A j * (snd yp * chance M is_wrong (next (fst yp)) (label_at j c') c') +
         B j * (snd yp * chance M is_none (next (fst yp)) (label_at j c') c')))).
    + rewrite !sum_plus, !sum_scale. ring.
    + intros [y p] Hy. simpl. rewrite (IH y (remain M R a y)); [ring|apply Hnext|]. rewrite <- El. eapply in_remain; eassumption.
  - destruct Hk as [Hq [Hh Ht]]. rewrite (IHh R j c Hh Hin), (IHt R j c Ht Hin). ring.
Qed.

(** Whoever keeps to the risks at cost C has a priced sum of at most that much, so that a priced sum of at least P bounds C. *)
Lemma cost_from_prices : forall X R P alpha beta C claimed, not_negative X -> may_be_true X R -> 0 < mass X ->
  mass X * claimed <= P - alpha * sum (fun m => snd m * A (fst (fst m))) X - beta * abstaining X ->
  forall o, keeps_to M o R ->
  (forall m, In m R -> chance M is_wrong o (fst m) (snd m) <= alpha /\ chance M is_none o (fst m) (snd m) <= beta /\
                       expected o (snd m) <= C) ->
  P <= priced_sum o X -> claimed <= C.
Proof.
  intros X R P alpha beta C claimed HX HR Hmass Hclaim o Hk Hrisk G.
  assert (G4 : priced_sum o X <= C * mass X + alpha * sum (fun m => snd m * A (fst (fst m))) X + beta * abstaining X).
  { unfold priced_sum, mass, abstaining. rewrite <- !sum_scale, <- !sum_plus. apply sum_le. intros [[j c] x] Hin. simpl.
    rewrite (priced_in_parts o R j c Hk (HR _ _ _ Hin)). destruct (Hrisk _ (HR _ _ _ Hin)) as [H1 [H2 H3]]. simpl in *.
    destruct (prices_are_not_negative j) as [Hw [HA HB]]. specialize (HX _ Hin). simpl in HX.
    assert (F1 : w j * expected o c <= w j * C) by (rewrite !(Qmult_comm (w j)); apply Qmult_le_compat_r; assumption).
    assert (F2 : A j * chance M is_wrong o (label_at j c) c <= A j * alpha)
      by (rewrite !(Qmult_comm (A j)); apply Qmult_le_compat_r; assumption).
    assert (F3 : B j * chance M is_none o (label_at j c) c <= B j * beta)
      by (rewrite !(Qmult_comm (B j)); apply Qmult_le_compat_r; assumption).
    setoid_replace (C * (x * w j) + alpha * (x * A j) + beta * (x * B j)) with (x * (w j * C + A j * alpha + B j * beta)) by ring.
    rewrite !(Qmult_comm x). apply Qmult_le_compat_r; [lra|assumption]. }
  assert (G5 : mass X * claimed <= mass X * C) by lra.
  destruct (Qlt_le_dec C claimed) as [L|L]; [|assumption]. exfalso.
  assert (mass X * C < mass X * claimed) by (rewrite !(Qmult_comm (mass X)); apply Qmult_lt_compat_r; assumption). lra.
Qed.

(** The claim: X are the hypotheses that count, with their classes of prices and how often they count; P is what the row that
    is named is worth there, or one step where none is. *)
Theorem prices_bound_the_cost : forall rows X R P alpha beta C claimed,
  (forall r, In r rows -> price_row_is_consistent rows r) ->
  not_negative X -> may_be_true X R ->
  (exists r lambda, In r rows /\ lies_below r lambda X /\ P <= lambda * price_bound r) \/
  (P <= cheapest * mass X /\ below_stop P X) ->
  0 < mass X ->
  mass X * claimed <= P - alpha * sum (fun m => snd m * A (fst (fst m))) X - beta * abstaining X ->
  forall o, keeps_to M o R ->
  (forall m, In m R -> chance M is_wrong o (fst m) (snd m) <= alpha /\ chance M is_none o (fst m) (snd m) <= beta /\
                       expected o (snd m) <= C) ->
  claimed <= C.
Proof.
  intros rows X R P alpha beta C claimed Hrows HX HR HP Hmass Hclaim o Hk Hrisk.
  assert (G : P <= priced_sum o X).
  { destruct HP as [[r [lambda [Hr [Hl HP]]]]|[Hm Hs]]; [|exact (one_step P X HX Hm Hs o R Hk HR)].
    eapply Qle_trans; [exact HP|]. eapply Qle_trans; [|exact (priced_sum_below o R r lambda X Hk HX HR Hl)].
    destruct Hl as [Hl [Hin _]]. rewrite !(Qmult_comm lambda). apply Qmult_le_compat_r; [|assumption].
    apply (rows_bound_priced_sums rows Hrows o R r Hr Hk). intros j c x Hm. specialize (Hin _ Hm). simpl in Hin.
    apply in_map_iff in Hin. destruct Hin as [[[j' c'] x'] [E Hin]]. simpl in E. inversion E; subst. exact (HR _ _ _ Hin). }
  exact (cost_from_prices X R P alpha beta C claimed HX HR Hmass Hclaim o Hk Hrisk G).
Qed.
End Prices.

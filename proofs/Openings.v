(** First decisions, case by case, each at prices: no observer within stated risks that draws nothing at random costs less.

    Claim: [openings] of docs/certificate-format.md; src/ascertain_check/claims/openings.py. Histories are written here as the readings
    that lead to them.

    Proved: if the tree of cases names, at each open history that it decides, every action that all who may still be true allow,
    every label unless answering it there breaks alpha already, and the abstention unless that breaks beta, then every observer within
    the risks that draws nothing at random begins with the partial policy of some leaf ([begins_with_a_leaf]). What a leaf counts
    by its rows, answers and steps bounds the priced sum of every observer that begins with its partial policy
    ([leaves_bound_priced_sums]) and, where condition 3 of [prices] holds, its worst expected cost
    ([leaves_bound_the_cost]). If all leaves prove what is claimed, it holds ([openings_bound_the_cost]). Paths are finite, as in Prices.v. *)

From Coq Require Import QArith List Lqa PeanoNat.
From Ascertain Require Import Sums Tasks Obstruction LowerExpected Prices NoneOfThese.
Import ListNotations.
Open Scope Q_scope.

(** What is decided after some histories; [Open]: nothing yet. *)
Inductive partial :=
| Open
| Says (k : option nat)
| Asks (a : nat) (next : nat -> partial).

Inductive decision := Say (k : option nat) | Ask (a : nat).

Definition after_decision (d : decision) : partial := match d with Say k => Says k | Ask a => Asks a (fun _ => Open) end.

Fixpoint begins (o : observer) (P : partial) {struct P} : Prop :=
  match P with
  | Open => True
  | Says k => o = Conclude k
  | Asks a next => match o with Try b f => a = b /\ forall y, begins (f y) (next y) | _ => False end
  end.

Fixpoint is_open (P : partial) (path : list nat) {struct path} : Prop :=
  match path, P with
  | [], Open => True
  | y :: path, Asks _ next => is_open (next y) path
  | _, _ => False
  end.

Fixpoint decide (P : partial) (path : list nat) (d : decision) {struct path} : partial :=
  match path, P with
  | [], _ => after_decision d
  | y :: path, Asks a next => Asks a (fun z => if Nat.eqb z y then decide (next z) path d else next z)
  | _, _ => P
  end.

Section Cases.
Variable M : noisy.
Hypothesis laws : laws_are_laws M.
Variable R : list (nat * nat).   (* the hypotheses *)
Variable labels : list nat.
Variables alpha beta : Q.

(** Nothing is drawn at random, and what is answered is a label. *)
Fixpoint is_plain (o : observer) : Prop :=
  match o with
  | Conclude None => True
  | Conclude (Some k) => In k labels
  | Try _ next => forall y, is_plain (next y)
  | Toss _ _ _ => False
  end.

Definition within_risks (o : observer) : Prop :=
  keeps_to M o R /\
  forall m, In m R -> chance M is_wrong o (fst m) (snd m) <= alpha /\ chance M is_none o (fst m) (snd m) <= beta.

(** Under a hypothesis: the probability of a history, and the label and the state after it. *)
Fixpoint reach (P : partial) (path : list nat) (l s : nat) {struct path} : option (Q * (nat * nat)) :=
  match path, P with
  | [], _ => Some (1, (l, s))
  | y :: path, Asks a next =>
      match leads M s a with
      | Some (s', i) =>
          match reach (next y) path (new_label M l s') s' with
          | Some (p, end_) => Some (chance_of (law M i) (Some y) * p, end_)
          | None => None
          end
      | None => None
      end
  | _, _ => None
  end.

(** All that an observer within the risks can decide at an open history is named. *)
Definition names_all (P : partial) (path : list nat) (named : list decision) : Prop :=
  (forall a, (forall l s p l' s', In (l, s) R -> reach P path l s = Some (p, (l', s')) -> 0 < p -> leads M s' a <> None) ->
             In (Ask a) named) /\
  (forall k, In k labels -> In (Say (Some k)) named \/
     exists l s p l' s', In (l, s) R /\ reach P path l s = Some (p, (l', s')) /\ alpha < p /\ k <> l') /\
  (In (Say None) named \/ exists l s p l' s', In (l, s) R /\ reach P path l s = Some (p, (l', s')) /\ beta < p).

(** The leaves of a tree of cases that begins with a partial policy. *)
Inductive covered : partial -> list partial -> Prop :=
| covered_leaf : forall P, covered P [P]
| covered_split : forall P path named leaves, is_open P path -> names_all P path named ->
    (forall d, In d named -> covered (decide P path d) (leaves d)) -> covered P (flat_map leaves named).

Fixpoint sub (o : observer) (path : list nat) {struct path} : option observer :=
  match path, o with
  | [], _ => Some o
  | y :: path, Try _ next => sub (next y) path
  | _, _ => None
  end.

Lemma sub_exists : forall path o P, begins o P -> is_open P path -> exists o', sub o path = Some o'.
Proof.
  induction path as [|y path IH]; intros o P Hb Ho; [exists o; reflexivity|].
  destruct P as [|k|a next]; simpl in *; try contradiction.
  destruct o as [k|b f|]; try contradiction. destruct Hb as [_ Hb]. exact (IH (f y) (next y) (Hb y) Ho).
Qed.

Lemma plain_sub : forall path o o', is_plain o -> sub o path = Some o' -> is_plain o'.
Proof.
  induction path as [|y path IH]; intros o o' Hp Hs; simpl in *.
  - injection Hs as Hs. subst. assumption.
  - destruct o as [k|b f|]; try discriminate. exact (IH (f y) o' (Hp y) Hs).
Qed.

Lemma begins_decided : forall path o P o' d, begins o P -> is_open P path -> sub o path = Some o' ->
  begins o' (after_decision d) -> begins o (decide P path d).
Proof.
  induction path as [|y path IH]; intros o P o' d Hb Ho Hs Hd; simpl in *.
  - injection Hs as Hs. subst. assumption.
  - destruct P as [|k|a next]; try contradiction. destruct o as [k|b f|]; try contradiction.
    destruct Hb as [Ea Hb]. split; [assumption|]. intros z. destruct (Nat.eqb_spec z y) as [E|E]; [subst|apply Hb].
    exact (IH (f y) (next y) o' d (Hb y) Ho Hs Hd).
Qed.

Lemma chance_is_not_negative : forall event o l s, is_plain o -> 0 <= chance M event o l s.
Proof.
  intros event o. induction o as [k|a next IH|q heads IHh tails IHt]; intros l s Hp; simpl in *; [| |contradiction].
  - destruct (event k l); lra.
  - destruct (leads M s a) as [[s' i]|]; [|lra]. apply sum_is_not_negative. intros [y p] Hy. simpl.
    apply Qmult_le_0_compat; [apply Qlt_le_weak, (proj1 (laws i) _ _ Hy)|apply IH, Hp].
Qed.

Lemma chance_of_one_reading : forall i y (g : nat -> Q), (forall z, 0 <= g z) ->
  chance_of (law M i) (Some y) * g y <= sum (fun yp => snd yp * g (fst yp)) (law M i).
Proof.
  intros i y g Hg. simpl. rewrite Qmult_comm, <- sum_scale. apply sum_le. intros [z p] Hz. simpl.
  pose proof (proj1 (laws i) _ _ Hz) as Hp. specialize (Hg z). destruct (Nat.eqb_spec z y) as [E|E].
  - subst. rewrite Qmult_comm. apply Qle_refl.
  - rewrite Qmult_0_r. apply Qmult_le_0_compat; lra.
Qed.

(** What happens after a history happens at least with the probability of that history. *)
Lemma chance_through : forall event path o P o' l s p l' s', is_plain o -> begins o P -> sub o path = Some o' ->
  reach P path l s = Some (p, (l', s')) -> p * chance M event o' l' s' <= chance M event o l s.
Proof.
  intros event path. induction path as [|y path IH]; intros o P o' l s p l' s' Hp Hb Hs Hr; simpl in *.
  - injection Hs as Hs. destruct P; injection Hr as H1 H2 H3; subst; lra.
  - destruct P as [|k|a next]; try discriminate. destruct o as [k|b f|]; try discriminate. destruct Hb as [Ea Hb]. subst b. simpl.
    destruct (leads M s a) as [[t i]|]; [|discriminate].
    destruct (reach (next y) path (new_label M l t) t) as [[r e]|] eqn:E; [|discriminate]. injection Hr as H1 H2. subst.
    apply Qle_trans with (chance_of (law M i) (Some y) * chance M event (f y) (new_label M l t) t).
    + rewrite <- Qmult_assoc. rewrite !(Qmult_comm (chance_of (law M i) (Some y))). apply Qmult_le_compat_r.
      * exact (IH (f y) (next y) o' _ _ _ _ _ (Hp y) (Hb y) Hs E).
      * simpl. apply sum_is_not_negative. intros [z q] Hz. simpl. destruct (Nat.eqb z y); [|lra].
        apply Qlt_le_weak, (proj1 (laws i) _ _ Hz).
    + apply (chance_of_one_reading i y (fun z => chance M event (f z) (new_label M l t) t)).
      intros z. apply chance_is_not_negative, Hp.
Qed.

Lemma reach_is_not_negative : forall path P l s p l' s', reach P path l s = Some (p, (l', s')) -> 0 <= p.
Proof.
  induction path as [|y path IH]; intros P l s p l' s' Hr; simpl in *.
  - destruct P; injection Hr as H1 H2 H3; subst; lra.
  - destruct P as [|k|a next]; try discriminate. destruct (leads M s a) as [[t i]|]; [|discriminate].
    destruct (reach (next y) path (new_label M l t) t) as [[r [l1 s1]]|] eqn:E; [|discriminate]. injection Hr as H1 H2 H3. subst.
    apply Qmult_le_0_compat; [|exact (IH _ _ _ _ _ _ E)]. simpl. apply sum_is_not_negative. intros [z q] Hz. simpl.
    destruct (Nat.eqb z y); [|lra]. apply Qlt_le_weak, (proj1 (laws i) _ _ Hz).
Qed.

Lemma positive_is_possible : forall i y, 0 < chance_of (law M i) (Some y) -> exists p, In (y, p) (law M i).
Proof.
  intros i y H. destruct (can_read (law M i) (Some y)) eqn:C.
  - simpl in C. apply existsb_exists in C. destruct C as [[z p] [Hz E]]. simpl in E. apply Nat.eqb_eq in E. subst. exists p. exact Hz.
  - rewrite (cannot_read _ _ C) in H. lra.
Qed.

(** Whoever may still be true allows what is asked. *)
Lemma asked_is_allowed : forall path o P K a f l s p l' s', keeps_to M o K -> begins o P -> sub o path = Some (Try a f) -> In (l, s) K ->
  reach P path l s = Some (p, (l', s')) -> 0 < p -> leads M s' a <> None.
Proof.
  induction path as [|y path IH]; intros o P K a f l s p l' s' Hk Hb Hs Hin Hr Hp; simpl in *.
  - injection Hs as Hs. subst. destruct P; injection Hr as H1 H2 H3; subst; destruct Hk as [Hk _]; exact (Hk _ Hin).
  - destruct P as [|k|b next]; try discriminate. destruct o as [k|b' g|]; try discriminate. destruct Hb as [Ea Hb]. subst b'.
    destruct Hk as [_ Hk]. destruct (leads M s b) as [[t i]|] eqn:El; [|discriminate].
    destruct (reach (next y) path (new_label M l t) t) as [[r [l1 s1]]|] eqn:E; [|discriminate]. injection Hr as H1 H2 H3. subst.
    pose proof (reach_is_not_negative _ _ _ _ _ _ _ E) as Hr0.
    assert (Hc0 : 0 <= chance_of (law M i) (Some y)).
    { simpl. apply sum_is_not_negative. intros [z q] Hz. simpl. destruct (Nat.eqb z y); [|lra].
      apply Qlt_le_weak, (proj1 (laws i) _ _ Hz). }
    assert (Hc : 0 < chance_of (law M i) (Some y)).
    { apply Qle_lteq in Hc0. destruct Hc0 as [H|H]; [assumption|]. exfalso. rewrite <- H in Hp. lra. }
    assert (Hr1 : 0 < r).
    { apply Qle_lteq in Hr0. destruct Hr0 as [H|H]; [assumption|]. exfalso. rewrite <- H, Qmult_0_r in Hp. lra. }
    destruct (positive_is_possible i y Hc) as [q Hq].
    exact (IH (g y) (next y) (remain M K b y) a f _ _ _ _ _ (Hk y) (Hb y) Hs (in_remain M K b l s t i y q Hin El Hq) E Hr1).
Qed.

Lemma makes_a_named_decision : forall o P path named, is_plain o -> within_risks o -> begins o P -> is_open P path -> names_all P path named ->
  exists d, In d named /\ begins o (decide P path d).
Proof.
  intros o P path named Hp [Hk Hrisk] Hb Ho [Hasks [Hsays Hnone]].
  destruct (sub_exists path o P Hb Ho) as [o' Hs].
  assert (Hp' : is_plain o') by exact (plain_sub path o o' Hp Hs).
  assert (Hend : forall d, begins o' (after_decision d) -> begins o (decide P path d)).
  { intros d Hd. exact (begins_decided path o P o' d Hb Ho Hs Hd). }
  destruct o' as [[k|]|a f|]; simpl in Hp'; [| | |contradiction].
  - destruct (Hsays k Hp') as [Hin|[l [s [p [l' [s' [Hin [Hr [Ha Hne]]]]]]]]]; [exists (Say (Some k)); split; [assumption|apply Hend; reflexivity]|].
    exfalso. pose proof (chance_through is_wrong path o P (Conclude (Some k)) l s p l' s' Hp Hb Hs Hr) as H. simpl in H.
    destruct (Nat.eqb_spec k l') as [E|_]; [contradiction|]. simpl in H. destruct (Hrisk _ Hin) as [Hw _]. simpl in Hw. lra.
  - destruct Hnone as [Hin|[l [s [p [l' [s' [Hin [Hr Ha]]]]]]]]; [exists (Say None); split; [assumption|apply Hend; reflexivity]|].
    exfalso. pose proof (chance_through is_none path o P (Conclude None) l s p l' s' Hp Hb Hs Hr) as H. simpl in H.
    destruct (Hrisk _ Hin) as [_ Hn]. simpl in Hn. lra.
  - exists (Ask a). split; [|apply Hend; simpl; split; [reflexivity|intros; exact I]]. apply Hasks.
    intros l s p l' s' Hin Hr Hpos. exact (asked_is_allowed path o P R a f l s p l' s' Hk Hb Hs Hin Hr Hpos).
Qed.

Theorem begins_with_a_leaf : forall P leaves, covered P leaves ->
  forall o, is_plain o -> within_risks o -> begins o P -> exists leaf, In leaf leaves /\ begins o leaf.
Proof.
  intros P leaves Hc. induction Hc as [P|P path named leaves Ho Hn _ IH]; intros o Hp Hw Hb.
  - exists P. split; [left; reflexivity|assumption].
  - destruct (makes_a_named_decision o P path named Hp Hw Hb Ho Hn) as [d [Hd Hbd]].
    destruct (IH d Hd o Hp Hw Hbd) as [leaf [Hin Hl]]. exists leaf. split; [|assumption].
    apply in_flat_map. exists d. auto.
Qed.

(** Every observer within the risks that begins like this costs some hypothesis at least so much. *)
Definition proves (cost : nat -> Q) (leaf : partial) (claimed : Q) : Prop :=
  forall o C, within_risks o -> begins o leaf -> (forall m, In m R -> expected M cost o (snd m) <= C) -> claimed <= C.

Theorem openings_bound_the_cost : forall cost leaves claimed, covered Open leaves ->
  (forall leaf, In leaf leaves -> proves cost leaf claimed) ->
  forall o C, is_plain o -> within_risks o -> (forall m, In m R -> expected M cost o (snd m) <= C) -> claimed <= C.
Proof.
  intros cost leaves claimed Hc Hl o C Hp Hw HC.
  destruct (begins_with_a_leaf Open leaves Hc o Hp Hw I) as [leaf [Hin Hb]]. exact (Hl leaf Hin o C Hw Hb HC).
Qed.
End Cases.

Section Leaf.
Variable M : noisy.
Hypothesis laws : laws_are_laws M.
Variable cost : nat -> Q.
Variable cheapest : Q.
Hypothesis costs : forall a, 0 <= cheapest <= cost a.
Variable label_of : nat -> nat.
Variables w A B : nat -> Q.
Hypothesis prices_are_not_negative : forall j, 0 <= w j /\ 0 <= A j /\ 0 <= B j.
Variable Y : list nat.
Hypothesis each_once : NoDup Y.
Hypothesis all_readings : forall i y p, In (y, p) (law M i) -> In y Y.
Variable rows : list price_row.
Hypothesis rows_are_consistent : forall r, In r rows -> price_row_is_consistent M cost cheapest label_of w A B Y rows r.

(** What a leaf counts for a partial policy at a vector, at most: of an open history a row, or one step. *)
Fixpoint counts (P : partial) (z : vector) (q : Q) : Prop :=
  match P with
  | Open => (exists r lambda, In r rows /\ lies_below r lambda z /\ q <= lambda * price_bound r) \/
            (q <= cheapest * mass w z /\ below_stop M label_of A B q z)
  | Says (Some k) => q <= answering M label_of A k z
  | Says None => q <= abstaining B z
  | Asks a next => exists worth : nat -> Q, q <= cost a * mass w z + sum worth Y /\
                   forall y, In y Y -> counts (next y) (vector_after M z a y) (worth y)
  end.

Theorem leaves_bound_priced_sums : forall P z q, counts P z q ->
  forall o K, not_negative z -> may_be_true M label_of z K -> keeps_to M o K -> begins o P ->
  q <= priced_sum M cost label_of w A B o z.
Proof.
  induction P as [|k|a next IH]; intros z q Hq o K Hz HK Hk Hb; simpl in *.
  - destruct Hq as [[r [lambda [Hr [Hl Hq]]]]|[Hm Hs]].
    + eapply Qle_trans; [exact Hq|].
      eapply Qle_trans; [|exact (priced_sum_below M laws cost cheapest costs label_of w A B prices_are_not_negative o K r lambda z Hk Hz HK Hl)].
      destruct Hl as [Hl [Hin _]]. rewrite !(Qmult_comm lambda). apply Qmult_le_compat_r; [|assumption].
      apply (rows_bound_priced_sums M laws cost cheapest costs label_of w A B prices_are_not_negative Y each_once all_readings
               rows rows_are_consistent o K r Hr Hk).
      intros j c x Hm. specialize (Hin _ Hm). simpl in Hin. apply in_map_iff in Hin. destruct Hin as [[[j' c'] x'] [E Hin]].
      simpl in E. inversion E; subst. exact (HK _ _ _ Hin).
    + exact (one_step M laws cost cheapest costs label_of w A B prices_are_not_negative Y each_once all_readings q z Hz Hm Hs o K Hk HK).
  - subst o. rewrite priced_sum_of_an_ending. destruct k; assumption.
  - destruct o as [k|b f|]; try contradiction. destruct Hb as [Ea Hb]. subst b. destruct Hk as [Hall Hnext].
    destruct Hq as [worth [Hq Hw]]. rewrite (priced_sum_of_a_step M cost label_of w A B Y each_once all_readings a f z).
    + eapply Qle_trans; [exact Hq|]. apply Qplus_le_compat; [apply Qle_refl|]. apply sum_le. intros y Hy.
      apply (IH y (vector_after M z a y) (worth y) (Hw y Hy) (f y) (remain M K a y)).
      * apply not_negative_after; assumption.
      * apply may_be_true_after. assumption.
      * apply Hnext.
      * apply Hb.
    + intros [[j c] x] Hin. apply (Hall _ (HK _ _ _ Hin)).
Qed.

(** X are the hypotheses that count, with their classes of prices and how often they count. *)
Theorem leaves_bound_the_cost : forall leaf R X P alpha beta claimed,
  not_negative X -> may_be_true M label_of X R -> counts leaf X P -> 0 < mass w X ->
  mass w X * claimed <= P - alpha * sum (fun m => snd m * A (fst (fst m))) X - beta * abstaining B X ->
  proves M R alpha beta cost leaf claimed.
Proof.
  intros leaf R X P alpha beta claimed HX HR HP Hmass Hclaim o C [Hk Hrisk] Hb HC.
  pose proof (leaves_bound_priced_sums leaf X P HP o R HX HR Hk Hb) as G.
  exact (cost_from_prices M cost label_of w A B prices_are_not_negative X R P alpha beta C claimed HX HR Hmass Hclaim o Hk
           (fun m Hm => conj (proj1 (Hrisk m Hm)) (conj (proj2 (Hrisk m Hm)) (HC m Hm))) G).
Qed.
End Leaf.

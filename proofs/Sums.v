(** Sums of rationals over lists.

    Claim: none of its own; the claims about means and probabilities use it. Proved: what the other files need, above all
    that a weighted list that has no more weight at any key has no larger sum ([domination]). *)

From Coq Require Import QArith List Lqa.
Import ListNotations.
Open Scope Q_scope.

Fixpoint sum {A : Type} (f : A -> Q) (L : list A) : Q :=
  match L with [] => 0 | x :: rest => f x + sum f rest end.

Section Sums.
Context {A : Type}.
Implicit Types (f g : A -> Q) (L : list A).

Lemma sum_le : forall f g L, (forall x, In x L -> f x <= g x) -> sum f L <= sum g L.
Proof.
  intros f g L. induction L as [|x L IH]; intros H; simpl; [lra|].
  pose proof (H x (or_introl eq_refl)). assert (sum f L <= sum g L) by (apply IH; intros; apply H; right; assumption). lra.
Qed.

Lemma sum_ext : forall f g L, (forall x, In x L -> f x == g x) -> sum f L == sum g L.
Proof.
  intros f g L. induction L as [|x L IH]; intros H; simpl; [reflexivity|].
  rewrite (H x (or_introl eq_refl)). rewrite IH; [reflexivity|]. intros; apply H; right; assumption.
Qed.

Lemma sum_plus : forall f g L, sum (fun x => f x + g x) L == sum f L + sum g L.
Proof. intros. induction L as [|x L IH]; simpl; [|rewrite IH]; ring. Qed.

Lemma sum_scale : forall c f L, sum (fun x => c * f x) L == c * sum f L.
Proof. intros. induction L as [|x L IH]; simpl; [|rewrite IH]; ring. Qed.

Lemma sum_zero : forall L, sum (fun _ => 0) L == 0.
Proof. intros. induction L as [|x L IH]; simpl; [reflexivity|rewrite IH; ring]. Qed.

Lemma sum_is_not_negative : forall f L, (forall x, In x L -> 0 <= f x) -> 0 <= sum f L.
Proof. intros f L H. rewrite <- (sum_zero L). apply sum_le. exact H. Qed.

Lemma sum_app : forall f L L', sum f (L ++ L') == sum f L + sum f L'.
Proof. intros. induction L as [|x L IH]; simpl; [|rewrite IH]; ring. Qed.

Lemma sum_map : forall (B : Type) (h : B -> A) f (L : list B), sum f (map h L) == sum (fun x => f (h x)) L.
Proof. intros. induction L as [|x L IH]; simpl; [|rewrite IH]; reflexivity. Qed.

Lemma sum_flat_map : forall (B : Type) (h : B -> list A) f (L : list B),
  sum f (flat_map h L) == sum (fun x => sum f (h x)) L.
Proof. intros. induction L as [|x L IH]; simpl; [reflexivity|]. rewrite sum_app, IH. reflexivity. Qed.

Lemma sum_filter : forall (test : A -> bool) f L,
  sum f (filter test L) == sum (fun x => if test x then f x else 0) L.
Proof. intros. induction L as [|x L IH]; simpl; [reflexivity|]. destruct (test x); simpl; rewrite IH; ring. Qed.

End Sums.

Lemma sum_swap : forall (A B : Type) (h : A -> B -> Q) (L : list A) (K : list B),
  sum (fun x => sum (h x) K) L == sum (fun y => sum (fun x => h x y) L) K.
Proof.
  intros. induction L as [|x L IH]; simpl.
  - rewrite sum_zero. reflexivity.
  - rewrite IH, <- sum_plus. reflexivity.
Qed.

Section Domination.
Context {K : Type} (dec : forall x y : K, {x = y} + {x <> y}).

(** The weight that a list has at a key. *)
Definition weight_at (z : K) (L : list (K * Q)) : Q := sum (fun m => if dec (fst m) z then snd m else 0) L.

Lemma sum_one_key : forall (g : K -> Q) w k keys, NoDup keys -> In k keys ->
  sum (fun z => (if dec k z then w else 0) * g z) keys == w * g k.
Proof.
  intros g w k keys. induction keys as [|x keys IH]; intros Hnd Hin; [contradiction|].
  inversion Hnd as [|? ? Hx Hnd']; subst. simpl. destruct (dec k x) as [E|E].
  - subst x. assert (Z : sum (fun z => (if dec k z then w else 0) * g z) keys == sum (fun _ => 0) keys).
    { apply sum_ext. intros z Hz. destruct (dec k z); [subst; contradiction|ring]. }
    rewrite Z, sum_zero. ring.
  - destruct Hin as [Hin|Hin]; [congruence|]. rewrite IH; auto. ring.
Qed.

Lemma sum_by_key : forall (g : K -> Q) L keys, NoDup keys -> incl (map fst L) keys ->
  sum (fun m => snd m * g (fst m)) L == sum (fun z => weight_at z L * g z) keys.
Proof.
  intros g L keys Hnd. induction L as [|[k w] L IH]; intros Hin; simpl.
  - rewrite (sum_ext _ (fun _ => 0)); [rewrite sum_zero; reflexivity|]. intros. unfold weight_at. simpl. ring.
  - rewrite IH; [|intros x Hx; apply Hin; right; exact Hx].
    rewrite <- (sum_one_key g w k keys Hnd (Hin k (or_introl eq_refl))).
    rewrite <- sum_plus. apply sum_ext. intros z _. unfold weight_at. simpl. ring.
Qed.

Theorem domination : forall (g : K -> Q) L L', (forall z, 0 <= g z) -> (forall z, weight_at z L <= weight_at z L') ->
  sum (fun m => snd m * g (fst m)) L <= sum (fun m => snd m * g (fst m)) L'.
Proof.
  intros g L L' Hg H. set (keys := nodup dec (map fst L ++ map fst L')).
  rewrite (sum_by_key g L keys), (sum_by_key g L' keys).
  - apply sum_le. intros z _. specialize (Hg z). specialize (H z). apply Qmult_le_compat_r; assumption.
  - apply NoDup_nodup.
  - intros x Hx. apply nodup_In. apply in_or_app. right. exact Hx.
  - apply NoDup_nodup.
  - intros x Hx. apply nodup_In. apply in_or_app. left. exact Hx.
Qed.
End Domination.

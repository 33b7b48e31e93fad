(** The plants for which the evidence rule holds: exact laws, readings that may be lost, and noise that is only bounded.

    Claim: [run] of docs/certificate-format.md, its section *Evidence* and the keys [at_most] and [lost] of the model;
    src/ascertain_check/evidence.py, and [score_laws] of src/ascertain_check/listed_world.py.

    Proved: the scores that the checker multiplies are [fair] to the truth in the sense of [Evidence.v], so that its theorems
    apply: for the exact laws of a noisy machine that moves deterministically ([noisy_machine_rule] is the whole statement),
    where readings are lost whatever their values would have been ([losses_are_fair]), for errors of probability at most f
    given the past, wherever they go ([bounded_errors_are_fair]), and with losses of probability at most l on top that may
    depend on the values ([bounded_errors_and_losses_are_fair]). *)

From Coq Require Import QArith List Lqa PeanoNat Bool.
From Ascertain Require Import Sums Evidence.
Import ListNotations.
Open Scope Q_scope.

Lemma factor_of_exact_laws : forall p q, 0 <= p -> 0 <= q -> p * (q / p) <= q.
Proof.
  intros p q Hp Hq. destruct (Qlt_le_dec 0 p) as [L|L].
  - assert (E : p * (q / p) == q) by (field; lra). lra.
  - assert (E : p == 0) by lra. rewrite E. lra.
Qed.

Section Exact.
Variables action reading Z : Type.
Variable Y : list reading.
Notation history := (history action reading).

(** The law of the next reading, for every state of the world, given what was done and read. *)
Variable law : scores action reading Z.
Hypothesis laws : forall z, is_law action reading Y (law z).

Theorem exact_laws_are_fair : forall z, fair action reading Z Y (law z) law z.
Proof.
  intros z. split; [auto|]. intros c h a. eapply Qle_trans; [|apply (laws c)].
  apply sum_le. intros y _. apply factor_of_exact_laws; apply laws.
Qed.

(** A reading may be lost, with a probability that depends on the state and on all that happened, not on its value. Then
    it counts 1 for every state. *)
Section Losses.
(** What laws depend on, of a history with losses. Where it is in doubt whether actions ran, let Z be states together with
    what ran: a doubted action is a reading that is lost. *)
Variable seen : list (action * option reading) -> history.

Definition with_losses : list (option reading) := None :: map Some Y.

Definition score_or_lost : scores action (option reading) Z := fun z h a y =>
  match y with None => 1 | Some y => law z (seen h) a y end.

Variable lost : list (action * option reading) -> action -> Q.
Hypothesis lost_is_a_probability : forall h a, 0 <= lost h a <= 1.

Definition law_with_losses (z : Z) (h : list (action * option reading)) (a : action) (y : option reading) : Q :=
  match y with None => lost h a | Some y => (1 - lost h a) * law z (seen h) a y end.

Theorem losses_are_fair : forall z,
  is_law action (option reading) with_losses (law_with_losses z) /\
  fair action (option reading) Z with_losses (law_with_losses z) score_or_lost z.
Proof.
  intros z. split; [split|split].
  - intros h a [y|]; simpl; [|apply lost_is_a_probability].
    apply Qmult_le_0_compat; [pose proof (lost_is_a_probability h a); lra|apply laws].
  - intros h a. unfold with_losses. simpl. rewrite sum_map. simpl. rewrite sum_scale.
    pose proof (lost_is_a_probability h a). destruct (laws z) as [_ Hs]. specialize (Hs (seen h) a).
    assert (G : (1 - lost h a) * sum (law z (seen h) a) Y <= (1 - lost h a) * 1).
    { rewrite (Qmult_comm _ (sum _ _)), (Qmult_comm _ 1). apply Qmult_le_compat_r; lra. }
    lra.
  - intros h a [y|]; simpl; intros H; [|lra]. destruct (laws z) as [Hp _]. specialize (Hp (seen h) a y).
    destruct (Qlt_le_dec 0 (law z (seen h) a y)) as [L|L]; [assumption|].
    assert (E : law z (seen h) a y == 0) by lra. rewrite E in H. lra.
  - intros c h a. unfold with_losses. simpl. rewrite sum_map. simpl.
    pose proof (lost_is_a_probability h a) as Hl.
    assert (G : sum (fun y => (1 - lost h a) * law z (seen h) a y * (law c (seen h) a y / law z (seen h) a y)) Y <=
                (1 - lost h a) * 1).
    { rewrite (sum_ext _ (fun y => (1 - lost h a) * (law z (seen h) a y * (law c (seen h) a y / law z (seen h) a y))))
        by (intros; ring).
      rewrite sum_scale, (Qmult_comm _ (sum _ _)), (Qmult_comm _ 1). apply Qmult_le_compat_r; [|lra].
      apply (exact_laws_are_fair z). }
    assert (E : 1 / 1 == 1) by reflexivity. rewrite E. lra.
Qed.
End Losses.
End Exact.

(** ** A noisy machine *)

Section Machine.
Variables action reading label Z : Type.
Variable same_label : forall k l : label, {k = l} + {k <> l}.
Variable Y : list reading.
Variable successor : Z -> action -> Z.
Variable K : Z -> action -> reading -> Q.
Hypothesis K_is_not_negative : forall z a y, 0 <= K z a y.
Hypothesis K_sums : forall z a, sum (K z a) Y <= 1.
(** The sum is 1 where a is allowed; a candidate that does not allow it drops out: all its K are 0. *)

(** Where z is after the actions of a history. *)
Fixpoint path (z : Z) (h : history action reading) : Z :=
  match h with [] => z | (a, _) :: h' => successor (path z h') a end.

Definition machine_law : scores action reading Z := fun z h a y => K (path z h) a y.

Theorem noisy_machine_rule : forall rule answer_of (B : bank Z) alpha,
  is_bank Z B -> 0 <= alpha ->
  answers_when_rivals_are_beaten action reading label Z rule answer_of machine_law B alpha ->
  forall z n, wrong action reading label same_label Y rule (machine_law z) (answer_of z) n [] <= alpha.
Proof.
  intros rule answer_of B alpha HB Ha Hrule z n.
  assert (L : forall z, is_law action reading Y (machine_law z)).
  { intros x. split; intros; unfold machine_law; [apply K_is_not_negative|apply K_sums]. }
  apply (evidence_rule action reading label Z same_label Y rule answer_of machine_law B alpha); auto.
  - intros x h a y. apply K_is_not_negative.
  - apply exact_laws_are_fair, L.
Qed.
End Machine.

(** ** Noise as a bound *)

Section Bounded.
Variables action reading Z : Type.
Variable same_reading : forall x y : reading, {x = y} + {x <> y}.
Variable Y : list reading.
Hypothesis each_once : NoDup Y.
Notation history := (history action reading).

(** What a state predicts, given what was done and read. *)
Variable predicted : Z -> history -> action -> reading.
Hypothesis predicted_is_a_reading : forall z h a, In (predicted z h a) Y.

(** A factor that is u at y, v at x and 1 elsewhere has a mean of at most 1. *)
Lemma two_readings : forall (P : reading -> Q) x y u v d e,
  (forall r, 0 <= P r) -> sum P Y <= 1 -> In x Y -> In y Y ->
  d <= P x -> P y <= e -> 1 <= u -> v <= 1 -> e * (u - 1) + d * (v - 1) <= 0 ->
  sum (fun r => P r * (1 + (if same_reading y r then u - 1 else 0) + (if same_reading x r then v - 1 else 0))) Y <= 1.
Proof.
  intros P x y u v d e HP Hsum Hx Hy Hd He Hu Hv Hbal.
  rewrite (sum_ext _ (fun r => P r + ((if same_reading y r then u - 1 else 0) * P r +
                                     (if same_reading x r then v - 1 else 0) * P r))) by (intros; ring).
  rewrite !sum_plus, !sum_one_key by assumption.
  assert (G1 : (u - 1) * P y <= (u - 1) * e) by (rewrite !(Qmult_comm (u - 1)); apply Qmult_le_compat_r; lra).
  assert (G2 : (1 - v) * d <= (1 - v) * P x) by (rewrite !(Qmult_comm (1 - v)); apply Qmult_le_compat_r; lra).
  lra.
Qed.

(** Together two readings have a probability of at most 1. *)
Lemma two_probabilities : forall (P : reading -> Q) x y, (forall r, 0 <= P r) -> sum P Y <= 1 -> In x Y -> In y Y -> x <> y ->
  P x + P y <= 1.
Proof.
  intros P x y HP Hsum Hx Hy Hne. eapply Qle_trans; [|exact Hsum].
  setoid_replace (P x + P y) with (1 * P x + 1 * P y) by ring.
  rewrite <- (sum_one_key same_reading P 1 x Y each_once Hx), <- (sum_one_key same_reading P 1 y Y each_once Hy), <- sum_plus.
  apply sum_le. intros r _. specialize (HP r). destruct (same_reading x r), (same_reading y r); try lra. congruence.
Qed.

Variable f : Q.
Hypothesis f_range : 0 < f < 1 # 2.

(** [at_most]: 1 - f for what is predicted and f for every other reading. *)
Definition bounded_score : scores action reading Z := fun z h a y =>
  if same_reading (predicted z h a) y then 1 - f else f.

Theorem bounded_errors_are_fair : forall (P : history -> action -> reading -> Q) z,
  is_law action reading Y P -> (forall h a, 1 - f <= P h a (predicted z h a)) ->
  fair action reading Z Y P bounded_score z.
Proof.
  intros P z [HP Hsum] Herr. split.
  - intros h a y _. unfold bounded_score. destruct (same_reading (predicted z h a) y); lra.
  - intros c h a. set (x := predicted z h a). set (y := predicted c h a).
    destruct (same_reading x y) as [E|E].
    + rewrite (sum_ext _ (P h a)); [apply Hsum|]. intros r _. unfold bounded_score. fold x y. rewrite E.
      destruct (same_reading y r); field; lra.
    + rewrite (sum_ext _ (fun r => P h a r * (1 + (if same_reading y r then (1 - f) / f - 1 else 0) +
                                             (if same_reading x r then f / (1 - f) - 1 else 0)))).
      * apply (two_readings (P h a) x y _ _ (1 - f) f); unfold x, y; auto.
        -- pose proof (two_probabilities (P h a) x y (HP h a) (Hsum h a) (predicted_is_a_reading z h a)
                         (predicted_is_a_reading c h a) E) as G. specialize (Herr h a). fold x in Herr. fold y. lra.
        -- apply Qle_shift_div_l; lra.
        -- apply Qle_shift_div_r; lra.
        -- assert (G : f * ((1 - f) / f - 1) + (1 - f) * (f / (1 - f) - 1) == 0) by (field; lra). lra.
      * intros r _. unfold bounded_score. fold x y.
        destruct (same_reading y r), (same_reading x r); [congruence| | |]; field; lra.
Qed.

(** [lost]: on top, a reading may become [silence] with a probability of at most l, whatever that depends on. *)
Variable silence : reading.
Variable l : Q.
Hypothesis l_range : 0 < l < 1.
Definition m : Q := (1 - f) * (1 - l).
Hypothesis m_range : f < m.

Definition silent_score : scores action reading Z := fun z h a y =>
  if same_reading (predicted z h a) y then 1
  else if same_reading silence y then (1 - m) / (1 - f) else f / m.

(** The law of what is read, where errors of probability at most f come first and losses of at most l then. *)
Definition errs_and_loses (P : history -> action -> reading -> Q) (z : Z) : Prop :=
  forall h a, let x := predicted z h a in
  (x = silence -> 1 - f <= P h a x) /\
  (x <> silence -> m <= P h a x) /\
  forall y, y <> x -> y <> silence -> P h a y <= f.

Theorem bounded_errors_and_losses_are_fair : forall (P : history -> action -> reading -> Q) z,
  is_law action reading Y P -> errs_and_loses P z -> fair action reading Z Y P silent_score z.
Proof.
  intros P z [HP Hsum] Herr.
  assert (Hm1 : 1 - m > 0 /\ m <= 1 - f).
  { unfold m. assert (0 < (1 - f) * l) by (apply Qmult_lt_0_compat; lra). lra. }
  assert (Hq : 0 < (1 - m) / (1 - f)) by (apply Qlt_shift_div_l; lra).
  assert (Hr : 0 < f / m) by (apply Qlt_shift_div_l; lra).
  split.
  - intros h a y _. unfold silent_score. destruct (same_reading (predicted z h a) y); [lra|].
    destruct (same_reading silence y); assumption.
  - intros c h a. destruct (Herr h a) as [H1 [H2 H3]]. clear Herr.
    set (x := predicted z h a) in *. set (y := predicted c h a).
    destruct (same_reading x y) as [E|E].
    { rewrite (sum_ext _ (P h a)); [apply Hsum|]. intros r _. unfold silent_score. fold x y. rewrite E.
      destruct (same_reading y r), (same_reading silence r); field; lra. }
    assert (Hxy := two_probabilities (P h a) x y (HP h a) (Hsum h a) (predicted_is_a_reading z h a)
                     (predicted_is_a_reading c h a) E).
    assert (Sum : forall u v d e, d <= P h a x -> P h a y <= e -> 1 <= u -> v <= 1 ->
              e * (u - 1) + d * (v - 1) <= 0 ->
              (forall r, silent_score c h a r / silent_score z h a r ==
                 1 + (if same_reading y r then u - 1 else 0) + (if same_reading x r then v - 1 else 0)) ->
              sum (fun r => P h a r * (silent_score c h a r / silent_score z h a r)) Y <= 1).
    { intros u v d e Hd He Hu Hv Hbal Hfac. rewrite (sum_ext _ _ Y (fun r _ => Qmult_comp _ _ (Qeq_refl (P h a r)) _ _ (Hfac r))).
      apply (two_readings (P h a) x y u v d e); auto; apply predicted_is_a_reading. }
    destruct (same_reading x silence) as [Ex|Ex]; [|destruct (same_reading y silence) as [Ey|Ey]].
    + apply (Sum (m / f) ((1 - m) / (1 - f)) (1 - f) f); auto.
      * apply H3; congruence.
      * apply Qle_shift_div_l; lra.
      * apply Qle_shift_div_r; lra.
      * assert (G : f * (m / f - 1) + (1 - f) * ((1 - m) / (1 - f) - 1) == 0) by (field; lra). lra.
      * intros r. unfold silent_score. fold x y.
        destruct (same_reading y r), (same_reading x r), (same_reading silence r); try congruence; field; lra.
    + apply (Sum ((1 - f) / (1 - m)) (f / m) m (1 - m)); auto.
      * specialize (H2 Ex). lra.
      * apply Qle_shift_div_l; lra.
      * apply Qle_shift_div_r; lra.
      * assert (G : (1 - m) * ((1 - f) / (1 - m) - 1) + m * (f / m - 1) == 0) by (field; lra). lra.
      * intros r. unfold silent_score. fold x y.
        destruct (same_reading y r), (same_reading x r), (same_reading silence r); try congruence; field; lra.
    + apply (Sum (m / f) (f / m) m f); auto.
      * apply Qle_shift_div_l; lra.
      * apply Qle_shift_div_r; lra.
      * assert (G : f * (m / f - 1) + m * (f / m - 1) == 0) by (field; lra). lra.
      * intros r. unfold silent_score. fold x y.
        destruct (same_reading y r), (same_reading x r), (same_reading silence r); try congruence; field; lra.
Qed.
End Bounded.

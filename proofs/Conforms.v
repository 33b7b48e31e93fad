(** Complete conformance: what was observed exposes every other machine of a fault domain.

    Claim: [conforms] of docs/certificate-format.md; src/ascertain_check/claims/conforms.py. The states of c below are the
    classes of the claim; T are the words of its runs.

    Proved: let T, the tree of what was observed from reset, agree with c and hold every word of A.I^(<=k+1), and let all u in
    A.I^(<=k+1) and v in A.I^(<=k) that lead c into different states be apart in T. Then every complete deterministic machine
    of the fault domain (A, k) that shows T is equivalent to c ([conformance]). If words of A reach n different states
    of c, then every machine of at most n + k states that shows T is in the domain, hence equivalent
    ([few_states_are_in_the_domain], [conformance_by_size]). *)

From Coq Require Import List Lia PeanoNat.
Import ListNotations.

Section Conformance.

Variables action reading : Type.
Notation word := (list action).

(** A complete deterministic machine, from where a reset leads on. *)
Record machine := {
  state : Type;
  start : state;
  next : state -> action -> state;
  output : state -> action -> reading
}.

Fixpoint run (m : machine) (s : state m) (w : word) : state m :=
  match w with [] => s | i :: w => run m (next m s i) w end.

Fixpoint readings (m : machine) (s : state m) (w : word) : list reading :=
  match w with [] => [] | i :: w => output m s i :: readings m (next m s i) w end.

Definition reached (m : machine) (w : word) : state m := run m (start m) w.

Variable I : list action.
Definition over_I (w : word) : Prop := forall i, In i w -> In i I.

(** What was observed: the words of T, and what was read along each. *)
Variable T : word -> Prop.
Variable record : word -> list reading.

Definition agrees (m : machine) : Prop := forall w, T w -> readings m (start m) w = record w.

(** T has a word after both u and v with different readings. *)
Definition apart (u v : word) : Prop :=
  exists w, T (u ++ w) /\ T (v ++ w) /\ skipn (length u) (record (u ++ w)) <> skipn (length v) (record (v ++ w)).

Variable A : list word.

(** The words of A.I^(<=n). *)
Definition access_then (n : nat) (u : word) : Prop := exists a v, In a A /\ over_I v /\ length v <= n /\ u = a ++ v.

(** Each reachable state is reached by a word of A followed by at most k actions. *)
Definition in_domain (m : machine) (k : nat) : Prop :=
  forall w, over_I w -> exists u, access_then k u /\ reached m w = reached m u.

(** No word over I tells the two machines apart. *)
Definition equivalent (m n : machine) : Prop :=
  forall w, over_I w -> readings m (start m) w = readings n (start n) w.

Lemma run_app : forall m s u w, run m s (u ++ w) = run m (run m s u) w.
Proof. intros m s u. revert s. induction u as [|i u IH]; intros s w; simpl; [reflexivity|apply IH]. Qed.

Lemma readings_app : forall m s u w, readings m s (u ++ w) = readings m s u ++ readings m (run m s u) w.
Proof. intros m s u. revert s. induction u as [|i u IH]; intros s w; simpl; [reflexivity|]. rewrite IH. reflexivity. Qed.

Lemma length_readings : forall m s w, length (readings m s w) = length w.
Proof. intros m s w. revert s. induction w as [|i w IH]; intros s; simpl; [reflexivity|]. rewrite IH. reflexivity. Qed.

Lemma readings_after : forall m u w, agrees m -> T (u ++ w) ->
  skipn (length u) (record (u ++ w)) = readings m (reached m u) w.
Proof.
  intros m u w H HT. rewrite <- (H _ HT), readings_app, skipn_app, length_readings, Nat.sub_diag.
  rewrite <- (length_readings m (start m) u), skipn_all. reflexivity.
Qed.

(** A machine that shows T is in different states after words that are apart. *)
Lemma apart_is_different : forall m u v, agrees m -> apart u v -> reached m u <> reached m v.
Proof.
  intros m u v H [w [Hu [Hv Hne]]] E. apply Hne.
  rewrite (readings_after m u w H Hu), (readings_after m v w H Hv), E. reflexivity.
Qed.

Variable c : machine.
Variable same_state : forall x y : state c, {x = y} + {x <> y}.
Variable k : nat.

(** The hypotheses of the theorem. *)
Record suite : Prop := {
  suite_agrees : agrees c;
  suite_empty : In [] A;
  suite_words : forall a, In a A -> over_I a;
  suite_holds : forall u, access_then (S k) u -> T u;
  suite_apart : forall u v, access_then (S k) u -> access_then k v -> reached c u <> reached c v -> apart u v
}.

Lemma access_more : forall n u, access_then n u -> access_then (S n) u.
Proof. intros n u [a [v [H1 [H2 [H3 H4]]]]]. exists a, v. repeat split; auto. Qed.

Lemma access_step : forall n u i, access_then n u -> In i I -> access_then (S n) (u ++ [i]).
Proof.
  intros n u i [a [v [H1 [H2 [H3 H4]]]]] Hi. exists a, (v ++ [i]). subst. repeat split; auto.
  - intros j Hj. apply in_app_or in Hj. destruct Hj as [Hj|[Hj|[]]]; [apply H2, Hj|subst; exact Hi].
  - rewrite app_length. simpl. lia.
  - rewrite app_assoc. reflexivity.
Qed.

Lemma reached_step : forall m u i, reached m (u ++ [i]) = next m (reached m u) i.
Proof. intros. unfold reached. rewrite run_app. reflexivity. Qed.

Lemma access_over_I : suite -> forall n u, access_then n u -> over_I u.
Proof.
  intros S n u [a [v [H1 [H2 [_ H4]]]]] i Hi. subst. apply in_app_or in Hi.
  destruct Hi as [Hi|Hi]; [apply (suite_words S a H1 i Hi)|apply H2, Hi].
Qed.

Theorem conformance : suite -> forall N, in_domain N k -> agrees N -> equivalent N c.
Proof.
  intros S N Hdom HN.
  (* The map from states of N to states of c commutes with actions. *)
  assert (Hnext : forall u i, access_then k u -> In i I ->
            exists v, access_then k v /\ reached N v = next N (reached N u) i /\ reached c v = next c (reached c u) i).
  { intros u i Hu Hi. pose proof (access_step _ _ _ Hu Hi) as Hui.
    destruct (Hdom (u ++ [i]) (access_over_I S _ _ Hui)) as [v [Hv E]]. exists v. split; [assumption|].
    rewrite <- !reached_step. split; [congruence|].
    destruct (same_state (reached c (u ++ [i])) (reached c v)) as [F|F]; [congruence|].
    exfalso. exact (apart_is_different N _ _ HN (suite_apart S _ _ Hui Hv F) E). }
  (* It keeps readings. *)
  assert (Hread : forall u i, access_then k u -> In i I -> output N (reached N u) i = output c (reached c u) i).
  { intros u i Hu Hi. pose proof (suite_holds S _ (access_step _ _ _ Hu Hi)) as HT.
    pose proof (readings_after N u [i] HN HT) as E1. pose proof (readings_after c u [i] (suite_agrees S) HT) as E2.
    rewrite E1 in E2. simpl in E2. congruence. }
  assert (Hall : forall w u, over_I w -> access_then k u -> readings N (reached N u) w = readings c (reached c u) w).
  { induction w as [|i w IH]; intros u Hw Hu; simpl; [reflexivity|].
    assert (Hi : In i I) by (apply Hw; left; reflexivity). rewrite (Hread u i Hu Hi).
    destruct (Hnext u i Hu Hi) as [v [Hv [E1 E2]]]. rewrite <- E1, <- E2, (IH v); auto.
    intros j Hj. apply Hw. right. exact Hj. }
  intros w Hw. apply (Hall w []); [assumption|]. exists [], [].
  repeat split; [apply (suite_empty S)|intros i []|simpl; lia].
Qed.

(** ** Machines of few states *)

Section Size.
Variable N : machine.
Variable same_state_N : forall x y : state N, {x = y} + {x <> y}.

(** The states that N reaches by words of A.I^(<=j). *)
Fixpoint level (j : nat) : list (state N) :=
  match j with
  | O => map (reached N) A
  | S j => level j ++ flat_map (fun s => map (next N s) I) (level j)
  end.

Lemma in_level : forall j s, In s (level j) -> exists u, access_then j u /\ reached N u = s.
Proof.
  induction j as [|j IH]; intros s H; simpl in H.
  - apply in_map_iff in H. destruct H as [a [E Ha]]. exists a. split; [|assumption].
    exists a, []. repeat split; auto; [intros i []|rewrite app_nil_r; reflexivity].
  - apply in_app_or in H. destruct H as [H|H].
    + destruct (IH s H) as [u [Hu E]]. exists u. split; [apply access_more, Hu|assumption].
    + apply in_flat_map in H. destruct H as [t [Ht H]]. apply in_map_iff in H. destruct H as [i [E Hi]].
      destruct (IH t Ht) as [u [Hu E']]. exists (u ++ [i]). split; [apply access_step; assumption|].
      rewrite reached_step, E'. exact E.
Qed.

Lemma level_grows : forall j d s, In s (level j) -> In s (level (d + j)).
Proof. intros j d s H. induction d as [|d IH]; simpl; [assumption|]. apply in_or_app. left. exact IH. Qed.

Definition distinct (j : nat) : nat := length (nodup same_state_N (level j)).

(** A level that does not grow holds all that is reachable; one that does has one state more. *)
Lemma grow_or_closed : forall j, incl (level (S j)) (level j) \/ distinct j < distinct (S j).
Proof.
  intros j. destruct (Forall_dec (fun x => In x (level j)) (fun x => in_dec same_state_N x (level j)) (level (S j)))
    as [H|H].
  - left. intros x Hx. rewrite Forall_forall in H. apply H, Hx.
  - right. assert (G : Exists (fun x => ~ In x (level j)) (level (S j))).
    { apply neg_Forall_Exists_neg; [|assumption]. intros x. apply (in_dec same_state_N). }
    apply Exists_exists in G. destruct G as [x [Hx Hnot]]. unfold distinct.
    change (length (x :: nodup same_state_N (level j)) <= length (nodup same_state_N (level (S j)))).
    apply NoDup_incl_length.
    + constructor; [rewrite nodup_In; exact Hnot|apply NoDup_nodup].
    + intros y [Hy|Hy]; apply nodup_In; [subst; exact Hx|].
      apply nodup_In in Hy. apply (level_grows j 1), Hy.
Qed.

Lemma closed_level : In [] A -> forall j, incl (level (S j)) (level j) -> forall w, over_I w -> In (reached N w) (level j).
Proof.
  intros HA j Hcl w. induction w as [|i w IH] using rev_ind; intros Hw.
  - change (In (reached N []) (level j)). replace j with (j + 0) by lia. apply (level_grows 0).
    simpl. apply in_map, HA.
  - rewrite reached_step. apply Hcl. simpl. apply in_or_app. right. apply in_flat_map. exists (reached N w). split.
    + apply IH. intros x Hx. apply Hw. apply in_or_app. left. exact Hx.
    + apply in_map. apply Hw. apply in_or_app. right. left. reflexivity.
Qed.

(** [cover] are words of A that lead c into different states; [states] lists what N can reach. *)
Theorem few_states_are_in_the_domain : suite -> agrees N ->
  forall cover states, incl cover A -> NoDup (map (reached c) cover) ->
  (forall w, over_I w -> In (reached N w) states) -> length states <= length cover + k ->
  in_domain N k.
Proof.
  intros S HN cover states Hcover Hnd Hstates Hlen.
  assert (Hbase : length cover <= distinct 0).
  { unfold distinct. rewrite <- (map_length (reached N) cover). apply NoDup_incl_length.
    - clear Hlen Hstates. induction cover as [|a cover IH]; simpl; [constructor|].
      simpl in Hnd. inversion Hnd as [|? ? Hnot Hnd']; subst. constructor.
      + intros Hin. apply in_map_iff in Hin. destruct Hin as [b [E Hb]]. apply Hnot. apply in_map_iff.
        exists b. split; [|assumption]. destruct (same_state (reached c a) (reached c b)) as [F|F]; [congruence|].
        exfalso. apply (apart_is_different N a b HN); [|congruence]. apply (suite_apart S); [| |assumption].
        * apply access_more. exists a, []. repeat split; [apply Hcover; left; reflexivity|intros i []|simpl; lia|].
          rewrite app_nil_r. reflexivity.
        * exists b, []. repeat split; [apply Hcover; right; exact Hb|intros i []|simpl; lia|].
          rewrite app_nil_r. reflexivity.
      + apply IH; [|assumption]. intros x Hx. apply Hcover. right. exact Hx.
    - intros x Hx. apply nodup_In. simpl. apply in_map_iff in Hx. destruct Hx as [a [E Ha]]. subst.
      apply in_map, Hcover, Ha. }
  assert (Hgrow : forall j, (exists i, i <= j /\ incl (level (Datatypes.S i)) (level i)) \/ length cover + j <= distinct j).
  { induction j as [|j IH]; [right; lia|]. destruct IH as [[i [Hi H]]|IH].
    - left. exists i. split; [lia|assumption].
    - destruct (grow_or_closed j) as [H|H]; [left; exists j; split; [lia|assumption]|right; lia]. }
  assert (Hall : forall w, over_I w -> In (reached N w) (level k)).
  { intros w Hw. destruct (Hgrow k) as [[i [Hi H]]|H].
    - replace k with ((k - i) + i) by lia. apply level_grows, (closed_level (suite_empty S) i H w Hw).
    - apply nodup_In with (decA := same_state_N).
      assert (Hincl : incl (nodup same_state_N (level k)) states).
      { intros x Hx. apply nodup_In in Hx. destruct (in_level _ _ Hx) as [u [Hu E]]. subst.
        apply Hstates, (access_over_I S _ _ Hu). }
      refine (NoDup_length_incl (NoDup_nodup same_state_N (level k)) _ Hincl _ (Hstates w Hw)).
      unfold distinct in H. lia. }
  intros w Hw. destruct (in_level _ _ (Hall w Hw)) as [u [Hu E]]. exists u. split; [assumption|congruence].
Qed.
End Size.

Corollary conformance_by_size : suite ->
  forall cover, incl cover A -> NoDup (map (reached c) cover) ->
  forall N (same_state_N : forall x y : state N, {x = y} + {x <> y}) states,
  (forall w, over_I w -> In (reached N w) states) -> length states <= length cover + k ->
  agrees N -> equivalent N c.
Proof.
  intros S cover Hcover Hnd N same_state_N states Hstates Hlen HN. apply (conformance S); [|assumption].
  exact (few_states_are_in_the_domain N same_state_N S HN cover states Hcover Hnd Hstates Hlen).
Qed.
End Conformance.

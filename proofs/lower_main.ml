(* Runs the proved checkers on one case a line, and prints 1 where they accept and 0 where they do not.

   A line is tokens with blanks between: numbers in decimal, the two parts of a rational in binary, "inf" for an infinite bound,
   "-" for what is missing; [x] is a list: its length, then its items. It begins with the task,

     labels readings actions [state: reading successor | -] [cost] [hypothesis: label state] ([current label] | -)

   where a state has an entry for every action and no length of its own; goes on with the kind of the claim and the claim,

     lower           cost (row | -) [row: [label class] bound [action reading row]]
     lower-expected  cost [weight] [row times] [row: [label class weight] bound [action [reading row times]]]

   and ends with [class of each state]. *)

open Lower_checker

let rec nat n = if n = 0 then O else S (nat (n - 1))

(* From the most significant bit on; the first is 1. *)
let positive digits =
  let rec read p i =
    if i = String.length digits then p else read (if digits.[i] = '1' then XI p else XO p) (i + 1)
  in
  if digits.[0] <> '1' then failwith "a positive number begins with 1" else read XH 1

let check_line line =
  let rest = ref (List.filter (fun token -> token <> "") (String.split_on_char ' ' line)) in
  let peek () = List.hd !rest in
  let token () = let t = List.hd !rest in rest := List.tl !rest; t in
  let int () = int_of_string (token ()) in
  let number () = nat (int ()) in
  let missing mark = if peek () = mark then (ignore (token ()); true) else false in
  let items count item =
    let rec collect n found = if n = 0 then List.rev found else let x = item () in collect (n - 1) (x :: found) in
    collect count []
  in
  let many item = let count = int () in items count item in
  let pair () = let x = number () in let y = number () in (x, y) in
  let rational () =
    let p = token () in
    let q = token () in
    { qnum = (if p = "0" then Z0 else Zpos (positive p)); qden = positive q }
  in
  let bound () = if missing "inf" then None else Some (rational ()) in
  let num_labels = number () in
  let num_readings = number () in
  let num_actions = int () in
  let table = many (fun () -> items num_actions (fun () -> if missing "-" then None else Some (pair ()))) in
  let costs = many rational in
  let hypotheses = many pair in
  let now = if missing "-" then None else Some (many number) in
  let task = { num_labels; num_readings; table; costs; hypotheses; now } in
  let finish accepts = if !rest <> [] then failwith "tokens are left over" else accepts in
  let check_lower () =
    let claimed = bound () in
    let root = if missing "-" then None else Some (number ()) in
    let row () =
      let set = many pair in
      let set_bound = bound () in
      let named = many (fun () -> let a = number () in let move = pair () in (a, move)) in
      { set; set_bound; named }
    in
    let table_rows = many row in
    let block = many number in
    finish (check task { claimed; root; table_rows; block })
  in
  let check_lower_expected () =
    let part () = let i = number () in let times = rational () in (i, times) in
    let mean_claimed = rational () in
    let mean_weights = many rational in
    let mean_parts = many part in
    let row () =
      let mean_set = many (fun () -> let member = pair () in let w = rational () in (member, w)) in
      let mean_bound = bound () in
      let named () = let y = number () in let p = part () in (y, p) in
      let mean_named = many (fun () -> let a = number () in let parts = many named in (a, parts)) in
      { mean_set; mean_bound; mean_named }
    in
    let mean_rows = many row in
    let mean_block = many number in
    finish (check_mean task { mean_claimed; mean_weights; mean_parts; mean_rows; mean_block })
  in
  match token () with
  | "lower" -> check_lower ()
  | "lower-expected" -> check_lower_expected ()
  | kind -> failwith ("no checker of claims " ^ kind)

let () =
  try
    while true do
      print_string (if check_line (input_line stdin) then "1\n" else "0\n")
    done
  with End_of_file -> ()

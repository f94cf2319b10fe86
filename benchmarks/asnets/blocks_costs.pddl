; Blocks on a small table. Moves may fail, a block whose moves have failed often is costly to move, and what
; is put on a full table crowds it, at a price.
(define (domain blocks-with-costs)
  (:requirements :strips :typing :negative-preconditions :equality :conditional-effects
    :probabilistic-effects :action-costs)
  (:types block count)
  (:predicates
    (on ?x ?y - block)
    (on-table ?x - block)
    (clear ?x - block)
    (holding ?x - block)
    (hand-empty)
    (costly ?x - block)
    (table ?k - count)
    (room)
    (next ?k ?l - count)
    (last ?k - count))
  (:functions (total-cost) - number)
  (:action pick-up
    :parameters (?x - block ?k ?l - count)
    :precondition (and (next ?k ?l) (table ?l) (not (costly ?x)) (clear ?x) (on-table ?x) (hand-empty))
    :effect (and (increase (total-cost) 1)
      (probabilistic
        0.9 (and (holding ?x) (not (clear ?x)) (not (on-table ?x)) (not (hand-empty))
              (table ?k) (not (table ?l)) (when (last ?l) (room)))
        0.1 (costly ?x))))
  (:action pick-up-costly
    :parameters (?x - block ?k ?l - count)
    :precondition (and (next ?k ?l) (table ?l) (costly ?x) (clear ?x) (on-table ?x) (hand-empty))
    :effect (and (increase (total-cost) 3)
      (probabilistic
        0.9 (and (holding ?x) (not (clear ?x)) (not (on-table ?x)) (not (hand-empty))
              (table ?k) (not (table ?l)) (when (last ?l) (room))))))
  (:action put-down
    :parameters (?x - block ?k ?l - count)
    :precondition (and (next ?k ?l) (table ?k) (room) (holding ?x))
    :effect (and (increase (total-cost) 1)
      (clear ?x) (on-table ?x) (hand-empty) (not (holding ?x))
      (table ?l) (not (table ?k)) (when (last ?l) (not (room)))))
  (:action crowd
    :parameters (?x - block ?k ?l - count)
    :precondition (and (next ?k ?l) (table ?k) (not (room)) (holding ?x))
    :effect (and (increase (total-cost) 50)
      (clear ?x) (on-table ?x) (hand-empty) (not (holding ?x))
      (table ?l) (not (table ?k))))
  (:action unstack
    :parameters (?x ?y - block)
    :precondition (and (not (= ?x ?y)) (not (costly ?x)) (on ?x ?y) (clear ?x) (hand-empty))
    :effect (and (increase (total-cost) 1)
      (probabilistic
        0.9 (and (holding ?x) (clear ?y) (not (on ?x ?y)) (not (clear ?x)) (not (hand-empty)))
        0.1 (costly ?x))))
  (:action unstack-costly
    :parameters (?x ?y - block)
    :precondition (and (not (= ?x ?y)) (costly ?x) (on ?x ?y) (clear ?x) (hand-empty))
    :effect (and (increase (total-cost) 3)
      (probabilistic
        0.9 (and (holding ?x) (clear ?y) (not (on ?x ?y)) (not (clear ?x)) (not (hand-empty))))))
  (:action stack
    :parameters (?x ?y - block)
    :precondition (and (not (= ?x ?y)) (holding ?x) (clear ?y))
    :effect (and (increase (total-cost) 1)
      (on ?x ?y) (clear ?x) (hand-empty) (not (holding ?x)) (not (clear ?y)))))

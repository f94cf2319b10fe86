; Blocks with a hand that takes one block at a time.
(define (domain blocks)
  (:requirements :strips :typing :negative-preconditions :equality)
  (:types block)
  (:predicates
    (on ?x ?y - block)
    (on-table ?x - block)
    (clear ?x - block)
    (holding ?x - block)
    (hand-empty))
  (:action pick-up
    :parameters (?x - block)
    :precondition (and (clear ?x) (on-table ?x) (hand-empty))
    :effect (and (holding ?x) (not (clear ?x)) (not (on-table ?x)) (not (hand-empty))))
  (:action put-down
    :parameters (?x - block)
    :precondition (holding ?x)
    :effect (and (clear ?x) (on-table ?x) (hand-empty) (not (holding ?x))))
  (:action unstack
    :parameters (?x ?y - block)
    :precondition (and (not (= ?x ?y)) (on ?x ?y) (clear ?x) (hand-empty))
    :effect (and (holding ?x) (clear ?y) (not (on ?x ?y)) (not (clear ?x)) (not (hand-empty))))
  (:action stack
    :parameters (?x ?y - block)
    :precondition (and (not (= ?x ?y)) (holding ?x) (clear ?y))
    :effect (and (on ?x ?y) (clear ?x) (hand-empty) (not (holding ?x)) (not (clear ?y)))))

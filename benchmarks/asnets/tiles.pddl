; Tiles on a grid, one place of which is empty. The direction of a slide is that of the empty place.
(define (domain tiles)
  (:requirements :strips :typing)
  (:types tile position direction)
  (:constants left right up down - direction)
  (:predicates
    (at ?t - tile ?p - position)
    (empty ?p - position)
    (beside ?p ?q - position ?d - direction))
  (:action slide
    :parameters (?t - tile ?from ?to - position ?d - direction)
    :precondition (and (beside ?to ?from ?d) (empty ?to) (at ?t ?from))
    :effect (and (at ?t ?to) (empty ?from) (not (at ?t ?from)) (not (empty ?to)))))

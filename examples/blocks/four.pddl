; Four blocks in two towers, to become one tower.
(define (problem four)
  (:domain blocks)
  (:objects a b c d - block)
  (:init (on a b) (on-table b) (clear a) (on c d) (on-table d) (clear c) (hand-empty))
  (:goal (and (on a b) (on b c) (on c d))))

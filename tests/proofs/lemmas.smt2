; SPDX-License-Identifier: MIT
;
; What products and divisions of unknowns in src/analysis/word.c and stretch.c rest on, over the
; integers, with words in 0..M. Each claim stands negated, and has no model. A quotient is given by
; its definition. docs/PROOFS.md says which rule uses which.
(define-fun M () Int 18446744073709551615)
(define-fun word ((v Int)) Bool (and (<= 0 v) (<= v M)))
(declare-const a Int)
(declare-const b Int)
(declare-const c Int)
(declare-const d Int)
(declare-const e Int) ; 1: or equal
(declare-const n Int)
(declare-const s Int)
(declare-const k Int)
(declare-const q Int)
(declare-const r Int)
(declare-const t Int)
(declare-const u Int)
(declare-const x Int)
(declare-const y Int)
(declare-const m Int)
(declare-const p Int)
(declare-const z Int)

;; division: k <= floor(n / s) exactly when k * s <= n
(assert (and (word n) (word s) (word k) (>= s 1) (= n (+ (* q s) r)) (<= 0 r) (< r s)))
(assert (not (= (<= k q) (<= (* k s) n))))

;; division: the quotient is a word
(assert (and (word n) (word s) (>= s 1) (= n (+ (* q s) r)) (<= 0 r) (< r s)))
(assert (not (and (<= 0 q) (<= q n))))

;; word_divide: quotients grow with the numerator
(assert (and (word n) (word m) (<= n m) (word s) (>= s 1)))
(assert (and (= n (+ (* q s) r)) (<= 0 r) (< r s) (= m (+ (* p s) t)) (<= 0 t) (< t s)))
(assert (not (<= q p)))

;; word_divide: quotients fall with the denominator
(assert (and (word n) (word s) (word m) (>= s 1) (<= s m)))
(assert (and (= n (+ (* q s) r)) (<= 0 r) (< r s) (= n (+ (* p m) t)) (<= 0 t) (< t m)))
(assert (not (<= p q)))

;; word_times: a factor may be replaced by one that is congruent to it
(assert (not (= (* (+ a (* k m)) b) (+ (* a b) (* m (* k b))))))

;; word_times: products by a number that is not negative keep their order
(assert (and (<= a x) (<= 0 y)))
(assert (not (<= (* a y) (* x y))))

;; word_times: products by a number that is not positive turn their order around
(assert (and (<= a x) (<= y 0)))
(assert (not (<= (* x y) (* a y))))

;; word_plus_or_most: what passes is told by one comparison
(assert (and (word a) (word b)))
(assert (not (= (> b (- M a)) (> (+ a b) M))))

;; word_times_or_most: what passes is told by one comparison with the quotient
(assert (and (word a) (word b) (>= a 1) (= M (+ (* q a) r)) (<= 0 r) (< r a)))
(assert (not (= (> b q) (> (* a b) M))))

;; form_add: an identity of the ring
(assert (not (= (+ (+ a (* s x) t) (+ b (* k x) u)) (+ (+ a b) (* (+ s k) x) (+ t u)))))

;; form_mul: an identity of the ring
(assert (not (= (* (+ a (* s x) t) c) (+ (* a c) (* (* s c) x) (* t c)))))

;; form_mul: the spread covers every part
(assert (and (<= 0 t) (<= t p) (>= c 0)))
(assert (not (and (<= 0 (* t c)) (<= (* t c) (* p c)))))

;; form_mul: by a negative number, what spreads is turned around
(assert (and (<= 0 t) (<= t p) (> c 0)))
(assert (not (and (= (* (+ a t) (- c)) (+ (- (* (+ a p) c)) (* (- p t) c)))
                  (<= 0 (* (- p t) c)) (<= (* (- p t) c) (* p c)))))

;; form_line: away from the end where it is largest, nothing wraps for floor(rank / steep) steps
(assert (and (word r) (word s) (>= s 1) (word k) (word t) (word m) (<= r m) (<= t (- m r))))
(assert (and (= r (+ (* q s) u)) (<= 0 u) (< u s) (<= k q)))
(assert (not (and (<= 0 (- r (* s k))) (<= (+ (- r (* s k)) t) m))))

;; form_line: congruent, and both within 0..2^w - 1, is equal
(assert (and (> m 0) (<= 0 a) (< a m) (<= 0 b) (< b m) (= (- a b) (* z m))))
(assert (not (= a b)))

;; form_line: the base that gives the rank at the top gives it everywhere
(assert (= a (- r (* s t))))
(assert (not (= (+ a (* s x)) (+ r (* s (- x t))))))

; Below, p is speed * d: by the first lemma p <= slack exactly when d <= floor(slack / speed).

;; where_any: it holds at first and the gap closes: exactly while speed * d <= slack
(assert (and (<= 0 e) (<= e 1) (>= (- b a) (- 1 e)) (= n (- b a (- 1 e)))))
(assert (not (and (>= n 0) (= (>= (- b a p) (- 1 e)) (<= p n)))))

;; where_any: a speed and a number of steps have a product that is not negative
(assert (and (<= 0 s) (<= 0 d)))
(assert (< (* s d) 0))

;; where_any: it holds at first and the gap opens: always
(assert (and (<= 0 p) (>= (- b a) k)))
(assert (< (+ (- b a) p) k))

;; where_any: it fails at first and the gap opens: exactly when speed * d > slack
(assert (and (<= 0 e) (<= e 1) (< (- b a) (- 1 e)) (= n (- a b e))))
(assert (not (and (>= n 0) (= (>= (+ (- b a) p) (- 1 e)) (> p n)))))

;; where_any: it fails at first and the gap closes: never
(assert (and (<= 0 p) (< (- b a) k)))
(assert (>= (- b a p) k))

;; where_any: the speed of two signed slopes is a word
(assert (and (<= (- 9223372036854775808) a) (< a 9223372036854775808)))
(assert (and (<= (- 9223372036854775808) b) (< b 9223372036854775808)))
(assert (not (and (word (ite (< b a) (- a b) (- b a))))))

;; where_not_negative: the gap closes: x < floor(gap / D) + 1
(assert (and (>= s 1) (= a (+ (* q s) r)) (<= 0 r) (< r s)))
(assert (not (= (>= (- a (* s x)) 0) (< x (+ q 1)))))

;; where_not_negative: the gap opens: x >= - floor(gap / D)
(assert (and (>= s 1) (= a (+ (* q s) r)) (<= 0 r) (< r s)))
(assert (not (= (>= (+ a (* s x)) 0) (>= x (- q)))))

;; is_easy: numbers below a quarter of the ring, congruent to a true gap below half of it, are the gap
(assert (and (< (- (div M 4)) a) (< a (div M 4)) (< (- (div M 4)) b) (< b (div M 4))))
(assert (and (< (- (div M 2)) c) (< c (div M 2)) (= (- (+ a b) c) (* z (+ M 1)))))
(assert (not (= (+ a b) c)))

;; form_counter: every turn lies in start..start + spread
(assert (and (<= a x) (<= x (+ a p)) (<= b y) (<= y (+ b t)) (<= x k) (< k y)))
(assert (not (and (> (+ b t) a) (<= a k) (<= k (+ a (- (+ b t) 1 a))))))

;; form_min, form_max: where every kept one is in front of every other, it is the result
(assert (and (<= a x) (<= x c) (<= b y) (<= y d) (<= c b)))
(assert (not (and (= (ite (< x y) x y) x) (= (ite (> y x) y x) y))))

;; must: every pair is in order where the greatest and the least are
(assert (and (<= a x) (<= x c) (<= b y) (<= y d) (< c b)))
(assert (not (< x y)))

;; may: no pair is in order where the other way round all are
(assert (and (<= a x) (<= x c) (<= b y) (<= y d) (<= d a)))
(assert (< x y))

;; fact_equal: all are the same where each is in front of the other, or equal
(assert (and (<= a x) (<= x c) (<= b y) (<= y d) (<= c b) (<= d a)))
(assert (not (= x y)))

;; must_within: congruent modulo 2^w and in 0..2^w - 1 is the value, and below the length
(assert (and (> m 0) (<= 0 a) (< a n) (<= n m) (<= 0 b) (< b m) (= (- a b) (* z m))))
(assert (not (and (= a b) (< b n))))

//! Loops with one or two variables, drawn at random, and what they do exactly.

use policert_numeric::Rational;

use super::number;

/// Random bits (xorshift).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }

    /// A number from 0 to `count` − 1.
    fn below(&mut self, count: u64) -> u64 {
        self.next() % count
    }

    fn between(&mut self, lo: i64, hi: i64) -> i64 {
        lo + i64::try_from(self.below(u64::try_from(hi - lo + 1).expect("ordered"))).expect("small")
    }

    /// A position among `count`.
    fn position(&mut self, count: usize) -> usize {
        usize::try_from(self.below(count as u64)).expect("small")
    }

    fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }
}

/// A formula; leaves are numbered inputs.
#[derive(Clone, Debug)]
enum Formula {
    Number(i64, i64),
    Input(usize),
    Add(Box<[Formula; 2]>),
    Sub(Box<[Formula; 2]>),
    Mul(Box<[Formula; 2]>),
    Div(Box<[Formula; 2]>),
    Min(Box<[Formula; 2]>),
    Abs(Box<Formula>),
    If(Box<[Formula; 4]>, usize),
}

/// Spellings of conditions, with their meaning.
type Comparison = (&'static str, fn(&Rational, &Rational) -> bool);

const COMPARISONS: [Comparison; 6] = [
    ("{a} < {b}", |a, b| a < b),
    ("({a} ≤ {b})", |a, b| a <= b),
    ("not ({a} = {b})", |a, b| a != b),
    ("!({a} <= {b}) || {a} = {b}", |a, b| a >= b),
    ("({a} > {b} && true)", |a, b| a > b),
    ("{a} != {b} => {a} == {b}", |a, b| a == b),
];

impl Formula {
    fn draw(random: &mut Random, inputs: usize, depth: u32) -> Self {
        let leaf = depth == 0 || random.one_in(3);
        if leaf {
            return match random.below(3) {
                0 => Self::Number(random.between(-20, 20), 10),
                _ => Self::Input(random.position(inputs)),
            };
        }
        let mut part = || Self::draw(random, inputs, depth - 1);
        let two = [part(), part()];
        match random.below(9) {
            0 | 1 => Self::Add(Box::new(two)),
            2 | 3 => Self::Sub(Box::new(two)),
            4 => Self::Mul(Box::new(two)),
            5 => Self::Div(Box::new(two)),
            6 => Self::Min(Box::new(two)),
            7 => {
                let [a, _] = two;
                Self::Abs(Box::new(a))
            }
            _ => {
                let [a, b] = two;
                let (c, d) =
                    (Self::draw(random, inputs, depth - 1), Self::draw(random, inputs, depth - 1));
                let which = random.position(COMPARISONS.len());
                Self::If(Box::new([a, b, c, d]), which)
            }
        }
    }

    fn text(&self, names: &[String]) -> String {
        let t = |formula: &Self| formula.text(names);
        match self {
            Self::Number(num, den) => format!("({num}/{den})"),
            Self::Input(at) => names[*at].clone(),
            Self::Add(two) => format!("({} + {})", t(&two[0]), t(&two[1])),
            Self::Sub(two) => format!("({} - {})", t(&two[0]), t(&two[1])),
            Self::Mul(two) => format!("({} * {})", t(&two[0]), t(&two[1])),
            Self::Div(two) => format!("({} / {})", t(&two[0]), t(&two[1])),
            Self::Min(two) => format!("min({}, {})", t(&two[0]), t(&two[1])),
            Self::Abs(one) => format!("abs({})", t(one)),
            Self::If(four, which) => {
                let (a, b) = (t(&four[0]), t(&four[1]));
                let condition = COMPARISONS[*which].0.replace("{a}", &a).replace("{b}", &b);
                format!("({} if {condition} else {})", t(&four[2]), t(&four[3]))
            }
        }
    }

    /// The value, if there is one: every part needs one.
    fn value(&self, inputs: &[Rational]) -> Option<Rational> {
        let v = |formula: &Self| formula.value(inputs);
        Some(match self {
            Self::Number(num, den) => number(*num, *den),
            Self::Input(at) => inputs[*at].clone(),
            Self::Add(two) => v(&two[0])? + v(&two[1])?,
            Self::Sub(two) => v(&two[0])? - v(&two[1])?,
            Self::Mul(two) => v(&two[0])? * v(&two[1])?,
            Self::Div(two) => v(&two[0])?.checked_div(&v(&two[1])?)?,
            Self::Min(two) => v(&two[0])?.min(v(&two[1])?),
            Self::Abs(one) => v(one)?.abs(),
            Self::If(four, which) => {
                let (a, b) = (v(&four[0])?, v(&four[1])?);
                let (then, otherwise) = (v(&four[2])?, v(&four[3])?);
                if COMPARISONS[*which].1(&a, &b) { then } else { otherwise }
            }
        })
    }
}

/// A state on a run.
#[derive(Debug)]
pub struct Visit {
    pub in_goal: bool,
    pub is_unsafe: bool,
}

/// A run, as far as it is defined.
#[derive(Debug)]
pub struct Run {
    pub states: Vec<Visit>,
}

type Bounds = Vec<(Rational, Rational)>;

/// A region with or without its border.
#[derive(Clone, Debug)]
struct LoopRegion {
    bounds: Bounds,
    open: bool,
}

impl LoopRegion {
    fn draw(random: &mut Random, dimension: usize) -> Self {
        let open = random.one_in(3);
        let side = |random: &mut Random| {
            let lo = random.between(-30, 25);
            (number(lo, 10), number(lo + random.between(i64::from(open), 25), 10))
        };
        Self { bounds: (0..dimension).map(|_| side(random)).collect(), open }
    }

    fn contains(&self, state: &[Rational]) -> bool {
        state
            .iter()
            .zip(&self.bounds)
            .all(|(x, (lo, hi))| if self.open { lo < x && x < hi } else { lo <= x && x <= hi })
    }

    fn text(&self) -> String {
        let list = |side: fn(&(Rational, Rational)) -> &Rational| -> String {
            let texts = self.bounds.iter().map(|pair| format!("\"{}\"", side(pair)));
            texts.collect::<Vec<_>>().join(", ")
        };
        let border = if self.open { "open" } else { "closed" };
        format!(
            "lower = [{}]\nupper = [{}]\nboundary = \"{border}\"\n",
            list(|pair| &pair.0),
            list(|pair| &pair.1)
        )
    }
}

/// A control loop and a question about it.
#[derive(Clone, Debug)]
pub struct Loop {
    dimension: usize,
    edges: Vec<Vec<Rational>>,
    policy: Formula,
    update: Vec<Formula>,
    clamp: Option<Bounds>,
    action_clamp: Option<(Rational, Rational)>,
    initial: Bounds,
    goal: Option<LoopRegion>,
    avoid: Option<LoopRegion>,
    from_step: u32,
    steps: u32,
    all_at_once: bool,
    goes_on: bool,
    partition: Option<i64>,
    /// True if a term that is 0 keeps bounds from being exact.
    pub rounded: bool,
}

impl Loop {
    pub fn draw(random: &mut Random) -> Self {
        let dimension = 1 + usize::from(random.one_in(3));
        let edges = (0..dimension).map(|_| {
            let mut edge = random.between(-60, -30);
            let mut edges = vec![number(edge, 10)];
            while edge < 30 {
                edge += random.between(3, 25);
                edges.push(number(edge, 10));
            }
            edges
        });
        let edges = edges.collect();
        let policy = Formula::draw(random, 2 * dimension, 2);
        let update = (0..dimension).map(|_| Formula::draw(random, dimension + 1, 2)).collect();
        let clamp = random.one_in(2).then(|| {
            (0..dimension).map(|_| (number(random.between(-30, 0), 10), number(29, 10))).collect()
        });
        let action_clamp =
            random.one_in(3).then(|| (number(random.between(-20, 0), 10), number(12, 10)));
        let is_point = random.one_in(3);
        let initial = (0..dimension).map(|_| {
            let lo = random.between(-25, 20);
            let width = if is_point { 0 } else { random.between(0, 8) };
            (number(lo, 10), number(lo + width, 10))
        });
        let initial = initial.collect();
        let goal = (!random.one_in(3)).then(|| LoopRegion::draw(random, dimension));
        let avoid =
            (goal.is_none() || random.one_in(2)).then(|| LoopRegion::draw(random, dimension));
        Self {
            dimension,
            edges,
            policy,
            update,
            clamp,
            action_clamp,
            initial,
            goal,
            avoid,
            from_step: if random.one_in(4) { 1 } else { 0 },
            steps: u32::try_from(random.between(0, 5)).expect("small"),
            all_at_once: random.one_in(2),
            goes_on: random.one_in(2),
            partition: random.one_in(3).then(|| random.between(2, 5)),
            rounded: random.one_in(3),
        }
    }

    /// Returns whether there is one start state only.
    pub fn is_point(&self) -> bool {
        self.initial.iter().all(|(lo, hi)| lo == hi)
    }

    fn names(&self) -> Vec<String> {
        ["x", "y"].into_iter().take(self.dimension).map(str::to_owned).collect()
    }

    /// The task file.
    pub fn text(&self) -> String {
        let names = self.names();
        let quoted = |texts: Vec<String>| {
            texts.iter().map(|text| format!("\"{text}\"")).collect::<Vec<_>>().join(", ")
        };
        let numbers =
            |values: Vec<&Rational>| quoted(values.iter().map(|x| x.to_string()).collect());
        let mut variables = names.clone();
        variables.push("u".to_owned());
        let bounds: Vec<String> = ["lo", "hi"]
            .into_iter()
            .flat_map(|half| names.iter().map(move |name| format!("{half}_{name}")))
            .collect();
        let mut updates: Vec<String> =
            self.update.iter().map(|formula| formula.text(&variables)).collect();
        if self.rounded {
            updates[0] += " + (sqrt(4) - 2)";
        }
        let mut text = format!(
            "state = [{}]\ninput = [\"u\"]\n[dynamics]\nkind = \"difference\"\nupdate = [{}]\n",
            quoted(names.clone()),
            quoted(updates)
        );
        if let Some(clamp) = &self.clamp {
            let pairs = clamp.iter().map(|(lo, hi)| format!("[\"{lo}\", \"{hi}\"]"));
            text += &format!("clamp = [{}]\n", pairs.collect::<Vec<_>>().join(", "));
        }
        if let Some((lo, hi)) = &self.action_clamp {
            text += &format!("[action]\nclamp = [\"{lo}\", \"{hi}\"]\n");
        }
        let edges = self.edges.iter().map(|axis| format!("[{}]", numbers(axis.iter().collect())));
        text += &format!("[abstraction]\nedges = [{}]\n", edges.collect::<Vec<_>>().join(", "));
        text += &format!("[policy]\nformula = [\"{}\"]\n", self.policy.text(&bounds));
        text += &format!(
            "[initial]\nlower = [{}]\nupper = [{}]\n",
            numbers(self.initial.iter().map(|pair| &pair.0).collect()),
            numbers(self.initial.iter().map(|pair| &pair.1).collect())
        );
        if let Some(parts) = self.partition {
            let steps = self.initial.iter().map(|(lo, hi)| {
                let width = hi - lo;
                let step = width.checked_div(&Rational::from(parts)).expect("not 0");
                if step.is_zero() { "\"1\"".to_owned() } else { format!("\"{step}\"") }
            });
            text += &format!("partition_step = [{}]\n", steps.collect::<Vec<_>>().join(", "));
        }
        if let Some(goal) = &self.goal {
            text += &format!("[goal]\n{}", goal.text());
        }
        if let Some(avoid) = &self.avoid {
            text += &format!("[unsafe]\n{}from_step = {}\n", avoid.text(), self.from_step);
        }
        let rule = if self.all_at_once { "all-at-once" } else { "each" };
        let after = if self.goes_on { "continue" } else { "stop" };
        text += &format!("[horizon]\nsteps = {}\n", self.steps);
        text + &format!("[question]\ngoal_rule = \"{rule}\"\nafter_goal = \"{after}\"\n")
    }

    /// The run from a state, as far as there are actions and next states.
    pub fn run(&self, start: &[Rational]) -> Run {
        let mut state = start.to_vec();
        let mut states = vec![self.visit(&state)];
        for _ in 0..self.steps {
            let Some(next) = self.next(&state) else { break };
            state = next;
            states.push(self.visit(&state));
        }
        Run { states }
    }

    fn visit(&self, state: &[Rational]) -> Visit {
        Visit {
            in_goal: self.goal.as_ref().is_some_and(|goal| goal.contains(state)),
            is_unsafe: self.avoid.as_ref().is_some_and(|avoid| avoid.contains(state)),
        }
    }

    fn next(&self, state: &[Rational]) -> Option<Vec<Rational>> {
        let (mut lower, mut upper) = (Vec::new(), Vec::new());
        for (x, edges) in state.iter().zip(&self.edges) {
            let last = edges.len() - 2;
            let cell = (0..=last).find(|&k| {
                edges[k] <= *x && (*x < edges[k + 1] || (k == last && *x == edges[k + 1]))
            })?;
            lower.push(edges[cell].clone());
            upper.push(edges[cell + 1].clone());
        }
        let clamped = |x: Rational, bounds: Option<&(Rational, Rational)>| match bounds {
            Some((lo, hi)) => x.max(lo.clone()).min(hi.clone()),
            None => x,
        };
        lower.extend(upper);
        let action = clamped(self.policy.value(&lower)?, self.action_clamp.as_ref());
        let mut arguments = state.to_vec();
        arguments.push(action);
        let next = self.update.iter().enumerate().map(|(i, formula)| {
            let bounds = self.clamp.as_ref().map(|clamp| &clamp[i]);
            formula.value(&arguments).map(|x| clamped(x, bounds))
        });
        next.collect()
    }

    /// Start states to try: the corners and the middle, edges of cells, and some between.
    pub fn starts(&self, random: &mut Random) -> Vec<Vec<Rational>> {
        let half = number(1, 2);
        let mut starts: Vec<Vec<Rational>> =
            vec![self.initial.iter().map(|(lo, hi)| (lo + hi) * half.clone()).collect()];
        for _ in 0..30 {
            let state = self.initial.iter().enumerate().map(|(i, (lo, hi))| {
                let inside: Vec<&Rational> =
                    self.edges[i].iter().filter(|edge| lo <= *edge && *edge <= hi).collect();
                match random.below(4) {
                    0 => lo.clone(),
                    1 => hi.clone(),
                    2 if !inside.is_empty() => inside[random.position(inside.len())].clone(),
                    _ => lo + (hi - lo) * number(random.between(0, 97), 97),
                }
            });
            starts.push(state.collect());
        }
        starts
    }
}

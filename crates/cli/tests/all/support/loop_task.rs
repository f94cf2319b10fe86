//! Task files of control loops with one variable `x` and one input `u`.

/// A loop. Boxes are written as in a task file: a lower and an upper bound.
pub struct LoopTask<'a> {
    pub name: &'a str,
    /// The next state.
    pub update: &'a str,
    /// The bounds at which the controller's output is cut off, if it is.
    pub clamp: Option<[&'a str; 2]>,
    pub state_space: [&'a str; 2],
    pub granularity: &'a str,
    /// The section about the controller.
    pub policy: &'a str,
    pub initial: [&'a str; 2],
    pub goal: Option<[&'a str; 2]>,
    pub avoid: Option<[&'a str; 2]>,
    pub steps: &'a str,
}

impl LoopTask<'_> {
    /// The file.
    pub fn text(&self) -> String {
        let region = |name: &str, bounds: Option<[&str; 2]>| {
            bounds.map(|[lower, upper]| {
                format!("[{name}]\nvariables = [1]\nlower = [{lower}]\nupper = [{upper}]\n")
            })
        };
        let clamp = self.clamp.map(|[low, high]| format!("[action]\nclamp = [{low}, {high}]\n"));
        let ([below, above], [lower, upper]) = (self.state_space, self.initial);
        let sections = [
            format!("name = \"{}\"\nstate = [\"x\"]\ninput = [\"u\"]\n", self.name),
            format!("[dynamics]\nkind = \"difference\"\nupdate = [\"{}\"]\n", self.update),
            clamp.unwrap_or_default(),
            format!(
                "[abstraction]\nstate_space_lower = [{below}]\nstate_space_upper = [{above}]\n"
            ),
            format!("granularity = [{}]\n", self.granularity),
            format!("[policy]\n{}\n", self.policy),
            format!("[initial]\nlower = [{lower}]\nupper = [{upper}]\n"),
            region("goal", self.goal).unwrap_or_default(),
            region("unsafe", self.avoid).unwrap_or_default(),
            format!("[horizon]\nsteps = {}\n", self.steps),
        ];
        sections.concat()
    }
}

//! A random case with the meaning that its number gives it.

use policert_policy::{ChoiceRule, PolicySemantics};
use policert_ppa::Splits;
use policert_testkit::{Profile, Random, Setting, semantics};

/// The case of a number with the meaning that the number gives it.
pub fn setting(profile: Profile, number: u64) -> Setting {
    let mut random = Random::new(number ^ 0x9e37);
    let semantics = semantics(&mut random);
    Setting::new(profile, number, semantics, number % 5 == 4, 90, &mut random)
}

/// A case whose policy draws its labels; with a least probability, if one is wanted.
pub fn drawing(profile: Profile, number: u64, with_least: bool) -> Setting {
    let mut random = Random::new(number ^ 0xd1ce);
    let share = *random.pick(&["0.05", "0.2", "1/3", "1/2", "0.51", "0.9"]);
    let semantics = PolicySemantics {
        choice: ChoiceRule::Sample,
        at_least: with_least.then(|| share.parse().expect("a share")),
        ..semantics(&mut random)
    };
    Setting::new(profile, number, semantics, number % 5 == 4, 100, &mut random)
}

/// The same with predicates by binary search, some or all of them.
pub fn setting_with_splits(profile: Profile, number: u64) -> (Setting, Splits) {
    let mut setting = setting(profile, number);
    let mut random = Random::new(number ^ 0x5917);
    let mut splits = Splits { percent: *random.pick(&[0, 15, 40, 70, 100]), last: Vec::new() };
    if random.percent(50) {
        splits.last.push(random.pick(&setting.case.model.variables).name.clone());
    }
    setting.case.property.predicates =
        splits.predicates(&setting.case.model).expect("all variables are bounded");
    setting.place += &format!(" {splits:?}");
    (setting, splits)
}

//! The lines of the table: measured one by one, printed as they come, summed up by group at the end.

use serde_json::{Value, json};
use std::time::Duration;
use zcodec_benches::turns::{Contestant, in_turn, median};

/// What a line is about.
#[derive(Clone, Debug)]
pub(crate) struct Line<'a> {
    /// Lines of one group share a row of the summary.
    pub(crate) group: &'a str,
    pub(crate) case: &'a str,
    pub(crate) size: &'a str,
    /// What `zcodec` is compared with.
    pub(crate) yardstick: &'a str,
    /// The least ratio that is fast enough; none where the number is only told.
    pub(crate) goal: Option<f64>,
    /// What the yardstick is allowed on top of its own time.
    pub(crate) allowance: Duration,
}

struct Measured {
    group: String,
    case: String,
    size: String,
    yardstick: String,
    goal: Option<f64>,
    ratio: f64,
}

pub(crate) struct Table {
    texts: Vec<String>,
    measured: Vec<Measured>,
}

impl Table {
    pub(crate) fn new(texts: Vec<String>) -> Self {
        Self { texts, measured: Vec::new() }
    }

    /// Whether this case was asked for. Cases that were not are not prepared either.
    pub(crate) fn wants(&self, group: &str, case: &str) -> bool {
        self.texts.is_empty() || self.texts.iter().any(|text| group.contains(text) || case.contains(text))
    }

    /// Measures `zcodec` and the yardstick.
    pub(crate) fn measure<'a>(&mut self, line: Line<'_>, yardstick: impl FnMut() + 'a, zcodec: impl FnMut() + 'a) {
        self.measure_all(vec![(line, Box::new(yardstick))], zcodec);
    }

    /// Measures `zcodec` and several yardsticks in the same rounds.
    pub(crate) fn measure_all<'a>(&mut self, yardsticks: Vec<(Line<'_>, Contestant<'a>)>, zcodec: impl FnMut() + 'a) {
        let (lines, mut contestants): (Vec<_>, Vec<_>) = yardsticks.into_iter().unzip();
        contestants.insert(0, Box::new(zcodec));
        let is_long = lines.iter().any(|line| line.size == "64MiB");
        let medians = in_turn(&mut contestants, if is_long { 7 } else { 25 });
        for (line, ratio) in lines.iter().zip(&medians.ratios[1..]) {
            // The rounds compare the others with zcodec; the table says how fast zcodec is compared with them.
            self.add(line, ratio.recip() + line.allowance.as_secs_f64() / medians.seconds);
        }
    }

    /// Measures what `zcodec` gains by two threads, in the same rounds as what another work does; the goal is the smaller
    /// one of the line's and of what the other work gains.
    pub(crate) fn measure_gain<'a>(&mut self, line: Line<'_>, zcodec: [Contestant<'a>; 2], other: [Contestant<'a>; 2]) {
        let [own, others] = gains(zcodec, other, 7);
        let goal = line.goal.map(|goal| goal.min((others * 1000.0).round() / 1000.0));
        self.add(&Line { goal, ..line }, own);
    }

    /// The same with a line for each of the two works, whose goals are their own.
    pub(crate) fn measure_gains<'a>(
        &mut self,
        [line, other_line]: [Line<'_>; 2],
        zcodec: [Contestant<'a>; 2],
        other: [Contestant<'a>; 2],
    ) {
        let [own, others] = gains(zcodec, other, 25);
        self.add(&line, own);
        self.add(&other_line, others);
    }

    fn add(&mut self, line: &Line<'_>, ratio: f64) {
        let Line { group, case, size, yardstick, goal, .. } = line;
        let goal_text = goal.map_or(String::new(), |goal| format!(", goal {goal}"));
        let verdict = if goal.is_some_and(|goal| ratio < goal) { "  SHORT" } else { "" };
        eprintln!("{group}/{case}/{size}: {ratio:.2} of {yardstick}{goal_text}{verdict}");
        self.measured.push(Measured {
            group: (*group).to_owned(),
            case: (*case).to_owned(),
            size: (*size).to_owned(),
            yardstick: (*yardstick).to_owned(),
            goal: *goal,
            ratio,
        });
    }

    /// Prints the summary and what falls short, and writes every line for the picture.
    pub(crate) fn finish(self) {
        println!("| work | size | compared with | cases | median | lowest | goal | short |");
        println!("| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |");
        let mut rest: &[Measured] = &self.measured;
        let key = |one: &Measured| (one.group.clone(), one.size.clone(), one.yardstick.clone());
        let mut keys: Vec<_> = Vec::new();
        for one in rest {
            if !keys.contains(&key(one)) {
                keys.push(key(one));
            }
        }
        for wanted in keys {
            row(&self.measured.iter().filter(|one| key(one) == wanted).collect::<Vec<_>>());
        }
        rest = &self.measured;
        println!("\nShort of its goal:\n");
        for one in rest.iter().filter(|one| is_short(one)) {
            let Measured { group, case, size, yardstick, goal, ratio } = one;
            println!("- {group}, {case}, {size}: {ratio:.2} of {yardstick} (goal {})", goal.unwrap_or_default());
        }
        write_json(rest);
    }
}

/// How many times as fast as the first the second contestant of each pair is.
fn gains<'a>(zcodec: [Contestant<'a>; 2], other: [Contestant<'a>; 2], rounds: usize) -> [f64; 2] {
    let ratios = in_turn(&mut zcodec.into_iter().chain(other).collect::<Vec<_>>(), rounds).ratios;
    [ratios[1] / ratios[0], ratios[3] / ratios[2]]
}

fn is_short(one: &Measured) -> bool {
    one.goal.is_some_and(|goal| one.ratio < goal)
}

fn row(lines: &[&Measured]) {
    let ratios = || lines.iter().map(|one| one.ratio);
    let goals: Vec<f64> = lines.iter().filter_map(|one| one.goal).collect();
    let least = goals.iter().copied().reduce(f64::min);
    let goal = match (least, goals.iter().copied().reduce(f64::max)) {
        (Some(least), Some(most)) if least < most => format!("{least} to {most}"),
        (Some(least), _) => least.to_string(),
        _ => "none".to_owned(),
    };
    println!(
        "| {} | {} | {} | {} | {:.2} | {:.2} | {goal} | {} |",
        lines[0].group,
        lines[0].size,
        lines[0].yardstick,
        lines.len(),
        median(ratios()),
        ratios().fold(f64::INFINITY, f64::min),
        lines.iter().filter(|one| is_short(one)).count(),
    );
}

fn write_json(measured: &[Measured]) {
    let line = |one: &Measured| {
        json!({"group": one.group, "case": one.case, "size": one.size, "yardstick": one.yardstick,
               "goal": one.goal, "ratio": (one.ratio * 1000.0).round() / 1000.0})
    };
    let lines: Vec<Value> = measured.iter().map(line).collect();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/target/goals.json");
    let text = serde_json::to_string_pretty(&lines).expect("numbers and texts are JSON");
    std::fs::write(path, text).expect("the target directory is there");
}

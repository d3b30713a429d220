//! time-sketches FILE SEGMENTS SECONDS histogram|hdrhistogram|sketches-ddsketch
//!
//! Counts every value of the file into the sketch of its feature and segment, pass after pass. Prints the
//! best pass in ns per value, the number of passes, the number of values in the sketches, and the
//! median of the first feature in the first segment. Format of the file: tests/bench/peers/time_sketch.c.
use std::time::Instant;

const LIST: usize = 20; // consecutive rows of one segment

struct Rows {
    x: Vec<f32>,
    features: usize,
}

fn read(path: &str) -> Rows {
    let bytes = std::fs::read(path).expect("the file can be read");
    let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let x: Vec<f32> = bytes[12..].chunks_exact(4).map(|c| f32::from_le_bytes(c.try_into().unwrap())).collect();
    assert_eq!((&bytes[..4], x.len()), (&b"EKF1"[..], number(4) * number(8)));
    Rows { x, features: number(8) }
}

/// One sketch: adds a value, returns its count and its median.
trait Sketch {
    fn new() -> Self;
    fn add(&mut self, x: f32);
    fn count(&self) -> u64;
    fn median(&self) -> f64;
}

// The first two accept integers only: thousandths.
impl Sketch for histogram::Histogram {
    fn new() -> Self {
        histogram::Histogram::new(6, 64).unwrap()
    }
    fn add(&mut self, x: f32) {
        self.increment((x * 1000.) as u64).unwrap()
    }
    fn count(&self) -> u64 {
        self.as_slice().iter().sum()
    }
    fn median(&self) -> f64 {
        let half = self.count() / 2;
        let mut below = 0;
        self.iter().find(|b| { below += b.count(); below >= half }).map_or(f64::NAN, |b| b.end() as f64 / 1000.)
    }
}

impl Sketch for hdrhistogram::Histogram<u64> {
    fn new() -> Self {
        hdrhistogram::Histogram::new_with_bounds(1, 1 << 40, 2).unwrap()
    }
    fn add(&mut self, x: f32) {
        self.saturating_record((x * 1000.) as u64)
    }
    fn count(&self) -> u64 {
        self.len()
    }
    fn median(&self) -> f64 {
        self.value_at_quantile(0.5) as f64 / 1000.
    }
}

impl Sketch for sketches_ddsketch::DDSketch {
    fn new() -> Self {
        sketches_ddsketch::DDSketch::new(sketches_ddsketch::Config::new(0.01, 2048, 1e-9))
    }
    fn add(&mut self, x: f32) {
        self.add(x as f64)
    }
    fn count(&self) -> u64 {
        self.count() as u64
    }
    fn median(&self) -> f64 {
        self.quantile(0.5).unwrap().unwrap()
    }
}

fn time<S: Sketch>(rows: &Rows, segments: usize, seconds: f64) {
    let f = rows.features;
    let mut sketches: Vec<S> = (0..segments * f).map(|_| S::new()).collect();
    let (mut best, mut passes, start) = (f64::MAX, 0, Instant::now());
    while passes < 2 || start.elapsed().as_secs_f64() < seconds {
        let began = Instant::now();
        for (r, row) in rows.x.chunks_exact(f).enumerate() {
            let segment = r / LIST % segments;
            for (sketch, x) in sketches[segment * f..(segment + 1) * f].iter_mut().zip(row) {
                sketch.add(*x);
            }
        }
        best = best.min(began.elapsed().as_secs_f64());
        passes += 1;
    }
    let held: u64 = sketches.iter().map(S::count).sum();
    println!("{} {} {} {}", best * 1e9 / rows.x.len() as f64, passes, held, sketches[0].median());
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let (rows, segments, seconds) = (read(&words[1]), words[2].parse().unwrap(), words[3].parse().unwrap());
    match words[4].as_str() {
        "histogram" => time::<histogram::Histogram>(&rows, segments, seconds),
        "hdrhistogram" => time::<hdrhistogram::Histogram<u64>>(&rows, segments, seconds),
        "sketches-ddsketch" => time::<sketches_ddsketch::DDSketch>(&rows, segments, seconds),
        other => panic!("no sketch '{other}'"),
    }
}

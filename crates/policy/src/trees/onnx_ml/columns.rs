//! The operators that may stand before a tree ensemble, on columns.

use std::sync::Arc;

use super::super::column::{Arithmetic, Column, Kind, Lookup, Number, Source, Step};
use super::super::normalised::{Norm, Normalised};
use super::DOMAIN;
use super::numbers::{LABEL_ENCODER, ascending, lookup, real, tensor_numbers, texts, unsupported};
use crate::error::PolicyError;
use crate::onnx::attributes::Attributes;
use crate::onnx::proto::{NodeProto, data_type};
use crate::onnx::tensor::Tensor;

/// A value of a graph for one state: columns in row-major order.
#[derive(Clone)]
pub(super) struct Block {
    pub columns: Vec<Column>,
    /// The sides behind that of the batch.
    pub sides: Vec<usize>,
    /// Of all columns, after their steps.
    pub kind: Kind,
}

/// A node and its surroundings.
pub(super) struct Call<'a> {
    pub node: &'a NodeProto,
    /// A value by name.
    pub argument: &'a dyn Fn(&String) -> Result<&'a Block, PolicyError>,
    /// A constant by name, if there is one.
    pub constant: &'a dyn Fn(&String) -> Result<Option<Tensor>, PolicyError>,
}

/// The operators that are supported here.
const SUPPORTED: &str = "Scaler, Normalizer, Imputer, OneHotEncoder, LabelEncoder, Binarizer, \
                         ArrayFeatureExtractor, Gather, Concat, Cast, Clip, Reshape, Flatten, \
                         Identity, and Add, Sub, Mul and Div with constants";

impl Call<'_> {
    /// Returns the value that the node computes. Columns that must have a value are added to `checked`.
    ///
    /// # Errors
    /// If the node is not supported, or its attributes and constants do not fit.
    pub fn result(&self, checked: &mut Vec<Column>) -> Result<Block, PolicyError> {
        match (self.node.domain.as_str(), self.node.op_type.as_str()) {
            (DOMAIN, "Scaler") => self.scaler(),
            (DOMAIN, "Normalizer") => self.normalizer(),
            (DOMAIN, "Imputer") => self.imputer(),
            (DOMAIN, "OneHotEncoder") => self.one_hot(checked),
            (DOMAIN, "LabelEncoder") => self.label_encoder(),
            (DOMAIN, "Binarizer") => {
                let threshold = self.attributes(&["threshold"])?.float("threshold")?;
                let block = self.first()?;
                let threshold = real(threshold.unwrap_or(0.0), block.kind)?;
                Ok(block.each(block.kind, |_| vec![Step::Above(threshold)]))
            }
            (DOMAIN, "ArrayFeatureExtractor") => {
                self.attributes(&[])?;
                self.picked(self.first()?)
            }
            ("" | "ai.onnx", "Gather") => {
                let block = self.first()?;
                let axis = self.attributes(&["axis"])?.integer("axis")?.unwrap_or(0);
                block.last_axis(axis)?;
                self.picked(block)
            }
            ("" | "ai.onnx", "Concat") => self.concat(),
            ("" | "ai.onnx", "Cast") => self.cast(),
            ("" | "ai.onnx", "Clip") => self.clip(),
            ("" | "ai.onnx", "Add") => self.arithmetic(Arithmetic::Add),
            ("" | "ai.onnx", "Sub") => self.arithmetic(Arithmetic::Sub),
            ("" | "ai.onnx", "Mul") => self.arithmetic(Arithmetic::Mul),
            ("" | "ai.onnx", "Div") => self.arithmetic(Arithmetic::Div),
            ("" | "ai.onnx", "Identity") => Ok(self.first()?.clone()),
            ("" | "ai.onnx", "Flatten") => {
                let axis = self.attributes(&["axis"])?.integer("axis")?.unwrap_or(1);
                if axis != 1 {
                    return Err(unsupported(format!("axis {axis}; 1 is supported")));
                }
                let block = self.first()?;
                Ok(Block { sides: vec![block.columns.len()], ..block.clone() })
            }
            ("" | "ai.onnx", "Reshape") => self.reshape(),
            _ => Err(unsupported(format!(
                "before a tree ensemble, supported are {SUPPORTED}; train the ensemble without this \
                 step, or export it alone and let the interface compute its inputs"
            ))),
        }
    }

    fn attributes(&self, known: &[&str]) -> Result<Attributes<'_>, PolicyError> {
        Attributes::of(self.node, known)
    }

    fn first(&self) -> Result<&Block, PolicyError> {
        match self.node.input.first() {
            Some(name) => (self.argument)(name),
            None => Err(PolicyError::invalid("", "argument 0 is missing")),
        }
    }

    /// Returns a constant argument, if it is there.
    fn constant(&self, index: usize) -> Result<Option<Tensor>, PolicyError> {
        let name = self.node.input.get(index).filter(|name| !name.is_empty());
        let Some(name) = name else { return Ok(None) };
        match (self.constant)(name)? {
            Some(tensor) => Ok(Some(tensor)),
            None => Err(unsupported(format!("argument {index} is no constant of the file"))),
        }
    }

    /// Computes `(x − offset) · scale`, in single precision where the input is not double.
    fn scaler(&self) -> Result<Block, PolicyError> {
        let attributes = self.attributes(&["offset", "scale"])?;
        let block = self.first()?;
        let list = |name: &str| {
            let list = attributes.floats(name)?.unwrap_or_default();
            block.of_length(list, name)
        };
        let (offset, scale) = (list("offset")?, list("scale")?);
        let double = block.kind == Kind::Double;
        let kind = if double { Kind::Double } else { Kind::Single };
        let number = |list: &[f64], at: usize| real(list[at % list.len()], kind);
        let mut steps = Vec::with_capacity(block.columns.len());
        for at in 0..block.columns.len() {
            let shift = Step::Arithmetic(Arithmetic::Sub, number(&offset, at)?);
            let scale = Step::Arithmetic(Arithmetic::Mul, number(&scale, at)?);
            steps.push(vec![Step::Cast(kind), shift, scale, Step::Cast(Kind::Single)]);
        }
        Ok(block.each(Kind::Single, |at| std::mem::take(&mut steps[at])))
    }

    /// Divides a row by its norm, in single precision.
    fn normalizer(&self) -> Result<Block, PolicyError> {
        let norm = match self.attributes(&["norm"])?.text("norm")?.as_deref() {
            Some("L1") => Norm::L1,
            Some("L2") => Norm::L2,
            Some("MAX") | None => Norm::Max,
            Some(other) => {
                let message = format!("there is no norm {other}; known are L1, L2 and MAX");
                return Err(PolicyError::invalid("", message));
            }
        };
        let block = self.first()?;
        if block.sides.len() != 1 {
            return Err(unsupported(format!(
                "of numbers of shape {:?}, and not one row",
                block.sides
            )));
        }
        let is_plain = |column: &Column| matches!(column.source, Source::Input(..));
        if !block.columns.iter().all(is_plain) {
            return Err(unsupported("it normalises what is normalised before".to_owned()));
        }
        let row = Arc::new(Normalised { norm, row: block.columns.clone() });
        let entry = |at| Source::Normalised(Arc::clone(&row), at);
        let columns = (0..block.columns.len()).map(entry);
        let columns = columns.map(|source| Column { source, steps: Vec::new() }).collect();
        Ok(Block { columns, sides: block.sides.clone(), kind: Kind::Single })
    }

    /// Puts another number for one that counts as missing; NaN never occurs.
    fn imputer(&self) -> Result<Block, PolicyError> {
        let attributes = self.attributes(&[
            "imputed_value_floats",
            "imputed_value_int64s",
            "replaced_value_float",
            "replaced_value_int64",
        ])?;
        let block = self.first()?;
        let (replaced, imputed): (Number, Vec<Number>) = match block.kind {
            Kind::Integer => {
                let list = attributes.integers("imputed_value_int64s")?.unwrap_or_default();
                let imputed = list.iter().map(|&value| Number::Integer(value)).collect();
                let replaced = attributes.integer("replaced_value_int64")?.unwrap_or(0);
                (Number::Integer(replaced), imputed)
            }
            kind => {
                let replaced = attributes.float("replaced_value_float")?.unwrap_or(0.0);
                if replaced.is_nan() {
                    return Ok(block.clone());
                }
                let list = attributes.floats("imputed_value_floats")?.unwrap_or_default();
                let imputed = list.iter().map(|&value| real(value, kind));
                (real(replaced, kind)?, imputed.collect::<Result<_, _>>()?)
            }
        };
        let imputed = block.of_length(imputed, "imputed_value_…")?;
        Ok(block.each(block.kind, |at| {
            let entries = vec![(replaced, imputed[at % imputed.len()])];
            vec![Step::Lookup(Arc::new(Lookup { entries, otherwise: None }))]
        }))
    }

    /// Makes a column for each category, behind the other sides.
    fn one_hot(&self, checked: &mut Vec<Column>) -> Result<Block, PolicyError> {
        let attributes = self.attributes(&["cats_int64s", "cats_strings", "zeros"])?;
        if !attributes.texts("cats_strings")?.is_empty() {
            return Err(texts());
        }
        let categories = attributes.integers("cats_int64s")?.unwrap_or_default();
        if categories.is_empty() {
            return Err(PolicyError::invalid("", "it has no categories"));
        }
        let mut known: Vec<Number> = categories.iter().map(|&at| Number::Integer(at)).collect();
        ascending(&mut known)?;
        let zeros = attributes.integer("zeros")?.unwrap_or(1) != 0;
        let block = self.first()?.each(Kind::Integer, |_| vec![Step::Cast(Kind::Integer)]);
        if !zeros {
            let known: Arc<[Number]> = known.into();
            let check = block.each(Kind::Integer, |_| vec![Step::Among(Arc::clone(&known))]);
            checked.extend(check.columns);
        }
        let one = |&category: &i64| {
            let entries = vec![(Number::Integer(category), Kind::Single.truth(true))];
            let otherwise = Some(Kind::Single.truth(false));
            Step::Lookup(Arc::new(Lookup { entries, otherwise }))
        };
        let steps: Vec<Step> = categories.iter().map(one).collect();
        let of_column = |column: &Column| {
            let column = column.clone();
            steps.iter().map(move |step| column.then([step.clone()])).collect::<Vec<_>>()
        };
        let columns = block.columns.iter().flat_map(of_column).collect();
        let sides = block.sides.iter().copied().chain([categories.len()]).collect();
        Ok(Block { columns, sides, kind: Kind::Single })
    }

    /// Puts numbers for numbers.
    fn label_encoder(&self) -> Result<Block, PolicyError> {
        let attributes = self.attributes(&LABEL_ENCODER)?;
        let block = self.first()?;
        let (keys, lookup, values) = lookup(&attributes)?;
        if keys != block.kind {
            let message = "its keys are of another type than its argument";
            return Err(PolicyError::invalid("", message));
        }
        let lookup = Arc::new(lookup);
        Ok(block.each(values, |_| vec![Step::Lookup(Arc::clone(&lookup))]))
    }

    /// Picks entries of the last side, by a constant list of places.
    fn picked(&self, block: &Block) -> Result<Block, PolicyError> {
        let places = self.constant(1)?;
        let places = places.as_ref().and_then(|tensor| Some((tensor, tensor.as_integers()?)));
        let Some((tensor, places)) = places else {
            return Err(PolicyError::invalid("", "argument 1 must be integers"));
        };
        let Some((&width, outer)) = block.sides.split_last() else {
            return Err(unsupported("it picks from a single number".to_owned()));
        };
        let mut found = Vec::with_capacity(places.len());
        for &place in places {
            let from_end = i64::try_from(width).unwrap_or(i64::MAX);
            let at = if place < 0 { place.saturating_add(from_end) } else { place };
            match usize::try_from(at).ok().filter(|&at| at < width) {
                Some(at) => found.push(at),
                None => {
                    let message = format!("place {place} of {width} is not there");
                    return Err(PolicyError::invalid("", message));
                }
            }
        }
        let rows = block.columns.chunks(width.max(1));
        let columns = rows.flat_map(|row| found.iter().map(|&at| row[at].clone())).collect();
        // A single place without a side of its own drops the side; an extractor keeps it.
        let (rank, gathers) = (tensor.shape.len(), self.node.op_type == "Gather");
        if rank > 1 && (gathers || tensor.len() != tensor.shape[rank - 1]) {
            return Err(unsupported("it picks by several lists".to_owned()));
        }
        let own = if rank == 0 && gathers { None } else { Some(found.len()) };
        let sides = outer.iter().copied().chain(own).collect();
        Ok(Block { columns, sides, kind: block.kind })
    }

    /// Puts columns one after the other.
    fn concat(&self) -> Result<Block, PolicyError> {
        let axis = self.attributes(&["axis"])?.integer("axis")?;
        let axis = axis.ok_or_else(|| PolicyError::invalid("", "`axis` is missing"))?;
        let (mut columns, mut sides, mut kind) = (Vec::new(), None, None);
        let mut width = 0;
        for name in &self.node.input {
            let block = (self.argument)(name)?;
            block.last_axis(axis)?;
            if block.columns.len() != block.sides.last().copied().unwrap_or(0) {
                return Err(unsupported("it joins several rows".to_owned()));
            }
            if *kind.get_or_insert(block.kind) != block.kind
                || *sides.get_or_insert(block.sides.len()) != block.sides.len()
            {
                let message = "its arguments differ in type, or in the number of their dimensions";
                return Err(PolicyError::invalid("", message));
            }
            width += block.columns.len();
            columns.extend(block.columns.iter().cloned());
        }
        let (Some(kind), Some(rank)) = (kind, sides) else {
            return Err(PolicyError::invalid("", "it has no arguments"));
        };
        let mut sides = vec![1; rank - 1];
        sides.push(width);
        Ok(Block { columns, sides, kind })
    }

    fn cast(&self) -> Result<Block, PolicyError> {
        let to = self.attributes(&["to", "saturate"])?.integer("to")?;
        let kind = match to.and_then(|to| i32::try_from(to).ok()) {
            Some(data_type::FLOAT) => Kind::Single,
            Some(data_type::DOUBLE) => Kind::Double,
            Some(data_type::INT64) => Kind::Integer,
            Some(data_type::STRING) => return Err(texts()),
            _ => {
                return Err(unsupported("it casts to no float, double or int64".to_owned()));
            }
        };
        Ok(self.first()?.each(kind, |_| vec![Step::Cast(kind)]))
    }

    /// Reads bounds as attributes, or as constants.
    fn clip(&self) -> Result<Block, PolicyError> {
        let attributes = self.attributes(&["min", "max"])?;
        let block = self.first()?;
        let mut steps = Vec::new();
        for (index, name, step) in
            [(1, "min", Step::AtLeast as fn(Number) -> Step), (2, "max", Step::AtMost)]
        {
            let bound = match (attributes.float(name)?, self.constant(index)?) {
                (Some(bound), None) => Some(real(bound, block.kind)?),
                (None, Some(tensor)) => Some(block.operand(&tensor, 0)?),
                (None, None) => None,
                (Some(_), Some(_)) => {
                    let message = format!("`{name}` is given twice");
                    return Err(PolicyError::invalid("", message));
                }
            };
            steps.extend(bound.map(step));
        }
        Ok(block.each(block.kind, |_| steps.clone()))
    }

    /// Computes an operation whose second operand, or either one where the order does not matter, is constant.
    fn arithmetic(&self, arithmetic: Arithmetic) -> Result<Block, PolicyError> {
        self.attributes(&[])?;
        let [first, second] = self.node.input.as_slice() else {
            return Err(PolicyError::invalid("", "two arguments are expected"));
        };
        let swaps = matches!(arithmetic, Arithmetic::Add | Arithmetic::Mul);
        let (block, tensor) = match ((self.constant)(first)?, (self.constant)(second)?) {
            (None, Some(tensor)) => ((self.argument)(first)?, tensor),
            (Some(tensor), None) if swaps => ((self.argument)(second)?, tensor),
            _ => {
                let message = "before a tree ensemble, its second operand must be a constant";
                return Err(unsupported(message.to_owned()));
            }
        };
        if block.kind == Kind::Integer {
            return Err(unsupported("it computes with integers".to_owned()));
        }
        block.fits(&tensor)?;
        let operands: Vec<Number> = (0..block.columns.len())
            .map(|at| block.operand(&tensor, at))
            .collect::<Result<_, _>>()?;
        Ok(block.each(block.kind, |at| vec![Step::Arithmetic(arithmetic, operands[at])]))
    }

    /// Puts the same columns in one row.
    fn reshape(&self) -> Result<Block, PolicyError> {
        let keeps_zeros = self.attributes(&["allowzero"])?.integer("allowzero")?.unwrap_or(0) != 0;
        let block = self.first()?;
        let shape = self.constant(1)?;
        let count = i64::try_from(block.columns.len()).unwrap_or(i64::MAX);
        let sides = match shape.as_ref().and_then(Tensor::as_integers) {
            Some(&[0, _]) if keeps_zeros => return Err(unsupported("no rows".to_owned())),
            Some(&[-1..=1, width]) if width == count => vec![block.columns.len()],
            Some(&[1, -1]) => vec![block.columns.len()],
            Some(&[-1]) if count == 1 => Vec::new(),
            _ => {
                let message = format!("it gives {count} columns another shape than one row");
                return Err(unsupported(message));
            }
        };
        Ok(Block { sides, ..block.clone() })
    }
}

impl Block {
    /// Returns each column after some steps.
    fn each(&self, kind: Kind, mut steps: impl FnMut(usize) -> Vec<Step>) -> Self {
        let columns = self.columns.iter().enumerate();
        let columns = columns.map(|(at, column)| column.then(steps(at))).collect();
        Self { columns, sides: self.sides.clone(), kind }
    }

    /// Returns a list if it has one entry, or one for each column.
    fn of_length<T>(&self, list: Vec<T>, name: &str) -> Result<Vec<T>, PolicyError> {
        if list.len() == self.columns.len() || list.len() == 1 {
            return Ok(list);
        }
        let message =
            format!("`{name}` has {} entries for {} columns", list.len(), self.columns.len());
        Err(PolicyError::invalid("", message))
    }

    /// Checks that an axis, counted with the one of the batch, is the last one.
    fn last_axis(&self, axis: i64) -> Result<(), PolicyError> {
        let last = i64::try_from(self.sides.len()).unwrap_or(i64::MAX);
        if !self.sides.is_empty() && [last, -1].contains(&axis) {
            return Ok(());
        }
        Err(unsupported(format!("axis {axis}; the last one is supported")))
    }

    /// Checks that a constant has one number, or one for each column.
    fn fits(&self, tensor: &Tensor) -> Result<(), PolicyError> {
        let rank = self.sides.len() + 1;
        let own = tensor.shape.len().checked_sub(self.sides.len());
        let is_row = own.is_some_and(|own| {
            tensor.shape[own..] == self.sides[..] && tensor.shape[..own].iter().all(|&n| n == 1)
        });
        if tensor.shape.len() <= rank && (tensor.len() == 1 || is_row) {
            return Ok(());
        }
        let message =
            format!("a constant of shape {:?} for {} columns", tensor.shape, self.columns.len());
        Err(unsupported(message))
    }

    /// Returns the number of a constant that meets a column.
    fn operand(&self, tensor: &Tensor, at: usize) -> Result<Number, PolicyError> {
        let numbers = tensor_numbers(tensor)?;
        let number = numbers.get(at).or(numbers.first()).copied();
        match number.filter(|number| number.kind() == self.kind) {
            Some(number) if number.to_f64().is_nan() => {
                Err(PolicyError::invalid("", "a constant is NaN"))
            }
            Some(number) => Ok(number),
            None => {
                let message = "a constant is of another type than what it meets";
                Err(PolicyError::invalid("", message))
            }
        }
    }
}

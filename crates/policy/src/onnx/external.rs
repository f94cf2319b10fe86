//! Numbers of a model that are stored in other files of its folder.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use prost::bytes::Bytes;

use super::graph::place_of;
use super::proto::{ModelProto, TensorProto};
use crate::error::PolicyError;
use crate::meter::Meter;
use crate::read::read_metered;

type Result<T> = std::result::Result<T, PolicyError>;

/// Takes the elements of all tensors of a model from where they are; returns the other files.
///
/// # Errors
/// If a file cannot be read, is outside the folder of the model, or is shorter than a tensor says.
pub(super) fn resolve(
    model: &mut ModelProto,
    folder: Option<&Path>,
    meter: &mut Meter,
) -> Result<Vec<PathBuf>> {
    let mut files = Files { folder, read: BTreeMap::new() };
    let Some(graph) = &mut model.graph else { return Ok(Vec::new()) };
    for tensor in &mut graph.initializer {
        let place = format!("initialiser `{}`", tensor.name);
        files.fill(tensor, meter).map_err(|error| error.at(&place))?;
    }
    for (index, node) in graph.node.iter_mut().enumerate() {
        let place = place_of(node, index);
        let tensors = node.attribute.iter_mut().filter_map(|attribute| attribute.t.as_mut());
        for tensor in tensors {
            files.fill(tensor, meter).map_err(|error| error.at(&place))?;
        }
    }
    Ok(files.read.into_values().map(|(path, _)| path).collect())
}

/// The other files, by the name in the model.
struct Files<'f> {
    folder: Option<&'f Path>,
    read: BTreeMap<String, (PathBuf, Bytes)>,
}

/// The place of a tensor's elements in another file.
struct Place {
    location: String,
    offset: usize,
    length: Option<usize>,
}

impl Place {
    fn of(tensor: &TensorProto) -> Result<Self> {
        let mut place = Self { location: String::new(), offset: 0, length: None };
        let mut known = Vec::new();
        for entry in &tensor.external_data {
            let (key, value) = (entry.key.as_str(), &entry.value);
            if known.contains(&key) {
                return Err(PolicyError::invalid(
                    "",
                    format!("`{key}` of its data is given twice"),
                ));
            }
            known.push(key);
            let number = || {
                let message = || format!("`{key}` of its data is `{value}`, which is no number");
                value.parse::<usize>().map_err(|_| PolicyError::invalid("", message()))
            };
            match key {
                "location" => place.location.clone_from(value),
                "offset" => place.offset = number()?,
                "length" => place.length = Some(number()?),
                other => {
                    let message = format!("`{other}` of data in another file is not supported");
                    return Err(PolicyError::unsupported("", message));
                }
            }
        }
        if place.location.is_empty() {
            return Err(PolicyError::invalid("", "its data is in another file that is not named"));
        }
        Ok(place)
    }
}

impl Files<'_> {
    /// Gives a tensor its elements.
    fn fill(&mut self, tensor: &mut TensorProto, meter: &mut Meter) -> Result<()> {
        if tensor.data_location == 0 && tensor.external_data.is_empty() {
            return Ok(());
        }
        meter.before(0)?;
        let place = Place::of(tensor)?;
        let location = place.location.as_str();
        if !self.read.contains_key(location) {
            let path = self.path(location)?;
            let bytes = Bytes::from(read_metered(&path, meter)?);
            self.read.insert(location.to_owned(), (path, bytes));
        }
        let Some((_, bytes)) = self.read.get(location) else { return Ok(()) };
        let end = match place.length {
            Some(length) => place.offset.checked_add(length),
            None => Some(bytes.len()),
        };
        let Some(end) = end.filter(|&end| place.offset <= end && end <= bytes.len()) else {
            let (length, offset) = (bytes.len(), place.offset);
            let wanted = place.length.map_or(String::new(), |length| format!("{length} bytes "));
            let message =
                format!("{wanted}from byte {offset} on are more than {location} has: {length}");
            return Err(PolicyError::invalid("", message));
        };
        tensor.raw_data = bytes.slice(place.offset..end);
        tensor.data_location = 0;
        tensor.external_data.clear();
        Ok(())
    }

    /// The file of a name, in the folder of the model.
    fn path(&self, location: &str) -> Result<PathBuf> {
        let Some(folder) = self.folder else {
            let message =
                format!("data in another file ({location}) is read from the model's folder only");
            return Err(PolicyError::unsupported("", message));
        };
        let outside = || {
            let message = format!(
                "its data is in {location}, outside the folder of the model; put both files into \
                 one folder"
            );
            PolicyError::invalid("", message)
        };
        let named = Path::new(location);
        let is_plain = |part| matches!(part, Component::Normal(_) | Component::CurDir);
        if !named.components().all(is_plain) || location.contains(['\\', '\0']) {
            return Err(outside());
        }
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let path = folder.join(named);
        let unreadable = |path: &Path| {
            let file = path.display().to_string();
            move |source| PolicyError::Io { file, source }
        };
        let own = folder.canonicalize().map_err(unreadable(folder))?;
        let real = path.canonicalize().map_err(unreadable(&path))?;
        if !real.starts_with(&own) {
            return Err(outside());
        }
        Ok(path)
    }
}

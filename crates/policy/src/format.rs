//! Which format a policy file has: by its content, whatever its name is.

use std::path::Path;

use crate::error::PolicyError;
use crate::onnx;
use crate::trees::{is_json_ensemble, is_lightgbm_text, is_ubjson};

/// The format of a policy file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Format {
    /// A network as text.
    Nnet,
    /// A network or a tree ensemble.
    Onnx,
    /// A tree ensemble as JSON.
    Json,
    /// A tree ensemble in another format.
    Trees,
}

impl Format {
    /// The format of a file with this content. Its name counts where the content says nothing.
    ///
    /// # Errors
    /// A file that another program is to read, with the way around it, or none of all this.
    pub fn of(path: &Path, bytes: &[u8]) -> Result<Self, PolicyError> {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let ending = ending.to_ascii_lowercase();
        let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
        if is_ubjson(bytes) || is_lightgbm_text(bytes) {
            return Ok(Self::Trees);
        }
        if matches!(first, Some(b'{' | b'[' | 0xef)) {
            // Whatever is wrong with it, the reader of this format says.
            return Ok(match ending.as_str() {
                "ubj" | "txt" => Self::Trees,
                _ => Self::Json,
            });
        }
        if let Some(foreign) = Foreign::of(bytes) {
            return Err(foreign.refusal());
        }
        if is_nnet(bytes) {
            return Ok(Self::Nnet);
        }
        if onnx::operators(bytes).is_some_and(|operators| !operators.is_empty()) {
            return Ok(Self::Onnx);
        }
        match ending.as_str() {
            "nnet" => Ok(Self::Nnet),
            "onnx" => Ok(Self::Onnx),
            "json" => Ok(Self::Json),
            "ubj" | "txt" => Ok(Self::Trees),
            // Such as compressed ones.
            "pkl" | "pickle" | "joblib" | "pt" | "pth" => Err(Foreign::of_objects(bytes).refusal()),
            _ => Err(PolicyError::unsupported("", NO_POLICY)),
        }
    }

    /// Returns whether a file is a policy and not an interface. A file of no known format counts as
    /// a policy unless its name ends as that of an interface does.
    pub fn is_policy(path: &Path, bytes: &[u8]) -> bool {
        match Self::of(path, bytes) {
            Ok(Self::Json) => is_json_ensemble(bytes),
            Ok(Self::Nnet | Self::Onnx | Self::Trees) => true,
            Err(_) => !path.extension().is_some_and(|ending| {
                ending.to_str().is_some_and(|ending| ending.starts_with("jani2"))
            }),
        }
    }
}

const NO_POLICY: &str = "policies of this format are not supported; networks in NNet (.nnet) and ONNX \
                         (.onnx) are, and tree ensembles in ONNX (.onnx), in JSON (.json) of Veritas, \
                         XGBoost and LightGBM, UBJSON (.ubj) of XGBoost and text (.txt) of LightGBM";

/// Returns whether the first line that is not a comment is a list of whole numbers.
fn is_nnet(bytes: &[u8]) -> bool {
    let lines = bytes.split(|&byte| byte == b'\n');
    let line = lines.into_iter().find(|line| !line.starts_with(b"//") && !line.is_empty());
    let is_number = |field: &[u8]| {
        let field = field.trim_ascii();
        field.is_empty() || field.iter().all(u8::is_ascii_digit)
    };
    line.is_some_and(|line| line.contains(&b',') && line.split(|&byte| byte == b',').all(is_number))
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// A file that only its own library reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Foreign {
    StableBaselines,
    Statistics,
    Torch,
    Keras,
    Safetensors,
    Sklearn,
    Lightgbm,
    Xgboost,
    Python,
    Archive,
}

impl Foreign {
    fn of(bytes: &[u8]) -> Option<Self> {
        let contains = |part: &[u8]| contains(bytes, part);
        if bytes.starts_with(b"PK\x03\x04") {
            // The names of the files stand in the archive as they are.
            return Some(if contains(b"stable_baselines3_version") {
                Self::StableBaselines
            } else if contains(b"model.weights.h5") {
                Self::Keras
            } else if contains(b"/data.pkl") {
                Self::Torch
            } else {
                Self::Archive
            });
        }
        if bytes.starts_with(b"\x89HDF\r\n\x1a\n") {
            return Some(Self::Keras);
        }
        if matches!(bytes, [0x80, 2..=5, ..]) {
            return Some(Self::of_objects(bytes));
        }
        if bytes.starts_with(b"binf") || bytes.starts_with(b"bs64") {
            return Some(Self::Xgboost);
        }
        // The length of the head in eight bytes, then the head, which is JSON.
        let head = bytes.get(..8).and_then(|head| head.try_into().ok()).map(u64::from_le_bytes);
        let length = head.and_then(|head| usize::try_from(head).ok());
        let fits =
            length.and_then(|length| length.checked_add(8)).is_some_and(|end| end <= bytes.len());
        (fits && bytes.get(8) == Some(&b'{')).then_some(Self::Safetensors)
    }

    /// The library whose objects these are, by the names of classes in it.
    fn of_objects(bytes: &[u8]) -> Self {
        let makers: [(&[u8], Self); 6] = [
            (b"vec_normalize", Self::Statistics),
            (b"lightgbm", Self::Lightgbm),
            (b"xgboost", Self::Xgboost),
            (b"sklearn", Self::Sklearn),
            (b"stable_baselines3", Self::StableBaselines),
            (b"torch", Self::Torch),
        ];
        let maker = makers.into_iter().find(|(name, _)| contains(bytes, name));
        maker.map_or(Self::Python, |(_, maker)| maker)
    }

    /// The error that refuses the file and names the way around.
    fn refusal(self) -> PolicyError {
        let (what, way) = self.around();
        let page = "see docs/bring-your-own-policy.md";
        PolicyError::unsupported("", format!("this is {what}; {way} ({page})"))
    }

    /// The name of the kind of file, and what to do instead.
    fn around(self) -> (&'static str, &'static str) {
        match self {
            Self::StableBaselines => (
                "a file of Stable-Baselines3",
                "export the policy in Python: torch.onnx.export(model.q_net, torch.zeros(1, N), \
                 'policy.onnx', dynamo=False), or model.policy with a wrapper that calls \
                 policy(observation, deterministic=True)",
            ),
            Self::Statistics => (
                "a file of statistics of VecNormalize",
                "write its means and variances into the interface, as `normalise`, and name the \
                 exported network as the policy",
            ),
            Self::Torch => (
                "a file of PyTorch",
                "export the network in Python: torch.onnx.export(net.eval(), torch.zeros(1, N), \
                 'policy.onnx')",
            ),
            Self::Keras => (
                "a model of Keras",
                "export it in Python: keras.models.load_model(FILE).export('policy.onnx', \
                 format='onnx')",
            ),
            Self::Safetensors => (
                "a file of weights (safetensors), which has no network",
                "load them into the network and export it: torch.onnx.export(net.eval(), \
                 torch.zeros(1, N), 'policy.onnx')",
            ),
            Self::Sklearn => (
                "a pickled object of scikit-learn",
                "export it: python3 tools/export_policy.py FILE policy.onnx",
            ),
            Self::Lightgbm => (
                "a pickled object of LightGBM",
                "export it: python3 tools/export_policy.py FILE policy.txt",
            ),
            Self::Xgboost => (
                "a pickled object or a binary file of XGBoost",
                "save it as JSON in Python: model.save_model('policy.json'), or export it: python3 \
                 tools/export_policy.py FILE policy.json",
            ),
            Self::Python => (
                "a pickled object of Python",
                "export the policy in a format of its library: python3 tools/export_policy.py FILE \
                 OUTPUT",
            ),
            Self::Archive => ("a zip archive", "export the policy as ONNX from its library"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{ElementType, NetworkBuilder};

    fn format(name: &str, bytes: &[u8]) -> Result<Format, String> {
        Format::of(Path::new(name), bytes).map_err(|error| error.to_string())
    }

    #[test]
    fn the_content_counts_and_not_the_name() {
        let mut builder = NetworkBuilder::new(1).expect("one input");
        let input = builder.input();
        let relu = builder.relu(input);
        let network = builder.finish(relu, ElementType::F32);
        let onnx = onnx::write_onnx(&network, ElementType::F32).expect("written");
        let nnet = "// A network\n1,1,1,1,\n".as_bytes();
        for (bytes, expected) in [
            (&br#" {"learner": {}}"#[..], Format::Json),
            (b"tree\nversion=v4\n", Format::Trees),
            (b"{L\0\0", Format::Trees),
            (nnet, Format::Nnet),
            (&onnx, Format::Onnx),
        ] {
            for name in ["policy", "policy.onnx", "policy.json", "policy.nnet", "p.zip", "p.pt"] {
                assert_eq!(format(name, bytes), Ok(expected), "{name}");
            }
        }
        assert_eq!(format("p.onnx", b""), Ok(Format::Onnx));
        assert_eq!(format("p.dat", b"?").expect_err("nothing"), NO_POLICY);
    }

    #[test]
    fn files_of_libraries_are_refused_with_the_way_around() {
        let zip = |name: &str| [b"PK\x03\x04\x14\0", name.as_bytes(), b"content"].concat();
        let head = br#"{"w":{}}"#;
        let safetensors = [&(head.len() as u64).to_le_bytes()[..], head].concat();
        for (bytes, words) in [
            (zip("_stable_baselines3_version"), "Stable-Baselines3; export the policy"),
            (zip("model/data.pkl"), "PyTorch; export the network"),
            (zip("model.weights.h5"), "Keras"),
            (zip("else"), "zip archive"),
            (b"\x89HDF\r\n\x1a\n...".to_vec(), "Keras"),
            (b"\x80\x04\x95..sklearn.tree".to_vec(), "scikit-learn"),
            (b"\x80\x04\x95..lightgbm.sklearn".to_vec(), "LightGBM"),
            (b"\x80\x04..common.vec_env.vec_normalize".to_vec(), "`normalise`"),
            (b"\x80\x03..numpy".to_vec(), "pickled object of Python"),
            (safetensors, "safetensors"),
        ] {
            for name in ["policy.onnx", "policy"] {
                let error = format(name, &bytes).expect_err(words);
                assert!(error.contains(words), "{error}");
                assert!(error.contains("docs/bring-your-own-policy.md"), "{error}");
            }
        }
        assert!(format("p.joblib", b"x\x9c..").expect_err("compressed").contains("pickled"));
    }
}

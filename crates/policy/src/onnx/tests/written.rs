//! Networks that are written and read back, and damaged files.

use proptest::prelude::*;

use super::*;
use crate::network::generate::{Functions, NetworkKind, network, tape};

proptest! {
    #[test]
    fn what_is_written_is_read_back(
        mut tape in tape(),
        inputs in prop::collection::vec(-20i64..20, 1..4),
        wild in any::<bool>(),
    ) {
        let kind = NetworkKind { wild, functions: Functions::Linear, branching: true };
        let network = network(&mut tape, inputs.len(), kind);
        match write_onnx(&network, ElementType::F64) {
            Ok(bytes) => {
                let read = parse_onnx("net.onnx", &bytes).expect("own output");
                prop_assert_eq!(read.element_type(), ElementType::F64);
                let expected = reference_scores(&network, &inputs);
                prop_assert_eq!(reference_scores(&read, &inputs), expected);
                prop_assert_eq!(read.hidden_sizes(), network.hidden_sizes());
            }
            // Slopes are single precision in the format.
            Err(PolicyError::Unsupported { .. }) => {
                let leaky = |op: &Op| matches!(op, Op::Pointwise { activation: Activation::Leaky { .. }, .. });
                prop_assert!(network.nodes().iter().any(|node| leaky(&node.op)));
            }
            Err(error) => prop_assert!(false, "{error}"),
        }
        if let Ok(bytes) = write_onnx(&network, ElementType::F32) {
            let read = parse_onnx("net.onnx", &bytes).expect("own output");
            prop_assert_eq!(read.element_type(), ElementType::F32);
            let expected = reference_scores(&network, &inputs);
            prop_assert_eq!(reference_scores(&read, &inputs), expected);
        }
    }

    #[test]
    fn chains_are_read_back_unchanged(
        mut tape in tape(), inputs in 1usize..4, wild in any::<bool>(),
    ) {
        let kind = NetworkKind { wild, functions: Functions::Smooth, branching: false };
        let network = network(&mut tape, inputs, kind);
        let plain = network.nodes().iter().all(|node| match node.op {
            // Attributes are single precision in the format.
            Op::Pointwise { activation, .. } => activation.operator().1.iter().all(|&value| {
                #[expect(clippy::cast_possible_truncation, reason = "compared with the original")]
                let single = f64::from(value as f32);
                single.to_bits() == value.to_bits()
            }),
            Op::Scale { .. } => false,
            _ => true,
        });
        if plain && network.nodes().len() > 1 {
            let bytes = write_onnx(&network, ElementType::F64).expect("doubles");
            let read = parse_onnx("net.onnx", &bytes).expect("own output");
            prop_assert_eq!(read.nodes(), network.nodes());
        }
    }

    #[test]
    fn damaged_files_give_an_answer(
        mut tape in tape(),
        part in any::<prop::sample::Index>(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
    ) {
        let kind = NetworkKind { wild: false, functions: Functions::Smooth, branching: true };
        let network = network(&mut tape, 2, kind);
        let Ok(mut bytes) = write_onnx(&network, ElementType::F64) else { return Ok(()) };
        let length = bytes.len();
        for (at, byte) in damage {
            bytes[at.index(length)] = byte;
        }
        let _ = parse_onnx("net.onnx", &bytes);
        bytes.truncate(part.index(length));
        let _ = parse_onnx("net.onnx", &bytes);
    }
}

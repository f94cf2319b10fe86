//! Numbers of a graph in other files.

use super::policies::exact;
use super::*;

/// A graph with a matrix in another file.
fn elsewhere(entries: &[(&str, &str)]) -> ModelProto {
    let mut graph = Graph::pair().node("Gemm", "x W -> y", vec![]);
    graph.0.initializer.push(TensorProto {
        float_data: Vec::new(),
        data_location: 1,
        external_data: entries
            .iter()
            .map(|(key, value)| StringStringEntryProto {
                key: (*key).to_owned(),
                value: (*value).to_owned(),
            })
            .collect(),
        ..floats("W", &[2, 3], &[])
    });
    graph.model()
}

#[test]
fn numbers_in_another_file() {
    let outer = tempfile::tempdir().expect("a folder");
    let folder = outer.path().join("model");
    std::fs::create_dir_all(folder.join("deep")).expect("a folder");
    let bytes: Vec<u8> = [0.0f32].iter().chain(&W).flat_map(|x| x.to_le_bytes()).collect();
    for path in [folder.join("w.data"), folder.join("deep/w.data"), outer.path().join("w.data")] {
        std::fs::write(path, &bytes).expect("written");
    }
    let read = |entries: &[(&str, &str)], meter: &mut Meter| {
        let reading = Reading { folder: Some(&folder), ..Reading::default() };
        parse_within("net.onnx", elsewhere(entries).encode_to_vec(), &reading, meter)
    };
    let free = |entries: &[(&str, &str)]| read(entries, &mut Meter::default());
    let refused = |entries: &[(&str, &str)]| free(entries).expect_err("refused").to_string();
    for location in ["w.data", "deep/w.data", "./w.data"] {
        let whole = [("location", location), ("offset", "4"), ("length", "24")];
        let found = free(&whole).expect("read");
        assert_eq!(exact(&found.network, &[2, 1]), ["6", "9", "12"]);
        assert_eq!(found.data_files.len(), 1);
        assert!(free(&whole[..2]).is_ok());
    }
    for location in ["../w.data", "deep/../../w.data", "/w.data", "link/w.data"] {
        #[cfg(unix)]
        if location.starts_with("link") {
            std::os::unix::fs::symlink(outer.path(), folder.join("link")).expect("a link");
        }
        let message = refused(&[("location", location), ("offset", "4")]);
        assert!(message.contains("outside the folder of the model"), "{message}");
    }
    for (entries, expected) in [
        (&[("offset", "4")][..], "not named"),
        (&[("location", "w.data"), ("offset", "-4")], "no number"),
        (&[("location", "w.data"), ("offset", "5")], "6 elements are declared, 5 are stored"),
        (&[("location", "w.data"), ("offset", "4"), ("length", "25")], "has: 28"),
        (&[("location", "w.data"), ("offset", "18446744073709551615")], "has: 28"),
        (&[("location", "w.data"), ("location", "w.data")], "twice"),
        (&[("location", "w.data"), ("checksum", "0")], "`checksum`"),
        (&[("location", "none.data")], "none.data"),
    ] {
        let message = refused(entries);
        assert!(message.contains(expected), "{message}");
    }
    let mut never = |_| false;
    let stopped = read(&[("location", "w.data"), ("offset", "4")], &mut Meter::new(&mut never));
    assert!(matches!(stopped, Err(PolicyError::Stopped)));
    let alone = parse_onnx("net.onnx", &elsewhere(&[("location", "w.data")]).encode_to_vec());
    assert!(alone.expect_err("no folder").to_string().contains("from the model's folder only"));
}

"""Inputs and outputs of ONNX models, against ONNX Runtime in Python; models that are refused, with their messages."""
import glob
import json
import os
import subprocess
import unittest

from folder import BUILD, HAS, Folder

EVENKEEL = os.path.join(BUILD, "evenkeel")
NAMES = ["price", "stars", "distance"]
LISTS, ITEMS = 50, 7
WEIGHT = [[.25], [-1.5], [.125]]


@unittest.skipUnless(HAS["numpy"] and HAS["onnx"] and HAS["onnxruntime"], "onnx or onnxruntime is not installed")
class Models(Folder):
    """A linear model in forms that exporters write."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        from onnx import TensorProto, helper
        cls.helper, cls.types = helper, TensorProto
        draw = cls.numpy.random.default_rng(7)
        features = "".join(f"  - {{name: {n}, index: {i + 1}, role: item}}\n" for i, n in enumerate(NAMES))
        cls.write("m.yaml", f"version: 1\nfeatures:\n{features}  - {{name: nights, index: 4, role: query}}\n")
        cls.rows = draw.normal(size=(LISTS, ITEMS, len(NAMES))).astype("float32")
        cls.nights = draw.integers(1, 9, LISTS)
        with open(cls.path("lists.txt"), "w") as out:
            for q, rows in enumerate(cls.rows):
                for row in rows:
                    values = " ".join(f"{i + 1}:{v!r}" for i, v in enumerate([*map(float, row), float(cls.nights[q])]))
                    out.write(f"0 qid:{q} {values}\n")

    def save(self, nodes, inputs, outputs, constants=(), **metadata):
        helper = self.helper
        graph = helper.make_graph(nodes, "g", inputs, outputs, [helper.make_tensor(*c) for c in constants])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        if metadata:
            helper.set_model_props(model, metadata)
        with open(self.path("model.onnx"), "wb") as out:
            out.write(model.SerializeToString())

    def linear(self, shape, kind="FLOAT", names=None, width=1, out=("scores", "FLOAT")):
        """Save scores = x * weight, of three columns."""
        kind, info = getattr(self.types, kind), self.helper.make_tensor_value_info
        weight = [v * (c + 1 if width == 1 else c) for v, in WEIGHT for c in range(width)]
        node = self.helper.make_node("MatMul", ["x", "w"], [out[0]])
        self.save([node], [info("x", kind, shape)], [info(out[0], kind, None)], [("w", kind, [3, width], weight)],
                  **({"feature_names": names} if names else {}))

    def scores(self):
        done = subprocess.run([EVENKEEL, "convert", "-m", self.path("m.yaml"), "--letor", self.path("lists.txt"), "--upstream-model",
                               self.path("model.onnx"), "--encoding", "json", "-o", "-"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.numpy.asarray([[i["score"] for i in json.loads(line)["items"]] for line in done.stdout.splitlines()])

    def expect(self, columns=(0, 1, 2), tolerance=1e-5):
        want = self.rows[:, :, list(columns)].astype("float64") @ self.numpy.asarray(WEIGHT)
        self.numpy.testing.assert_allclose(self.scores(), want[..., 0], atol=tolerance)

    def test_rows_of_items(self):
        self.linear(["n", 3])
        self.expect()

    def test_a_list_of_rows(self):
        self.linear([1, "n", 3])
        self.expect()

    def test_one_item_at_a_time(self):
        self.linear([1, 3])
        self.expect()

    def test_doubles(self):
        self.linear(["n", 3], "DOUBLE")
        self.expect(tolerance=1e-12)

    def test_columns_are_found_by_the_names_in_the_metadata(self):
        for names in ("distance,price,stars", '["distance", "price", "stars"]'):
            self.linear(["n", None], names=names)
            self.expect((2, 0, 1))

    def test_the_second_of_two_probabilities_is_the_score(self):
        self.linear(["n", 3], width=2)
        self.expect()

    def test_a_tensor_for_each_feature_and_the_query(self):
        helper, info = self.helper, self.helper.make_tensor_value_info
        inputs = [info(n, self.types.FLOAT, ["n", 1]) for n in ("nights", "price")]
        self.save([helper.make_node("Mul", ["nights", "price"], ["y"])], inputs, [info("y", self.types.FLOAT, ["n", 1])])
        self.numpy.testing.assert_allclose(self.scores(), self.rows[:, :, 0] * self.nights[:, None], rtol=1e-6)

    def check_refused(self, text, **environment):
        done = subprocess.run([EVENKEEL, "check", self.path("m.yaml"), self.path("model.onnx")], capture_output=True, text=True, check=False,
                              env={**os.environ, **environment})
        self.assertIn(text, done.stdout + done.stderr)
        self.assertEqual(done.returncode, 78, done.stdout + done.stderr)

    def test_models_that_are_refused(self):
        helper, info, types = self.helper, self.helper.make_tensor_value_info, self.types
        self.linear(["n", 3], names="price,stars,miles")
        self.check_refused("feature 'miles' of the model is not in the manifest; model: price, stars, miles; manifest: price, stars, distance, nights")
        self.linear(["n", 3], names="price,stars")
        self.check_refused("metadata 'feature_names' of the model is no list of as many names as columns")
        self.linear(["n", None])
        self.check_refused("the model does not say how many features it has")
        self.linear([20, 3])
        self.check_refused("input 'x' of the model is not for any number of items; export it with a dynamic first axis")
        self.save([helper.make_node("Cast", ["x"], ["y"], to=types.FLOAT)], [info("x", types.INT64, ["n", 3])], [info("y", types.FLOAT, ["n", 3])])
        self.check_refused("input 'x' of the model is not a tensor [items, features] of float or double")
        self.save([helper.make_node("Cast", ["x"], ["y"], to=types.INT64)], [info("x", types.FLOAT, ["n", 3])], [info("y", types.INT64, ["n", 3])])
        self.check_refused("no output of the model is a tensor of float or double")
        with open(self.path("model.onnx"), "r+b") as out:
            out.truncate(30)
        self.check_refused("model.onnx: ONNX Runtime 1.")

    def test_without_the_runtime_the_message_has_the_remedy(self):
        self.linear(["n", 3])
        self.check_refused("an ONNX model needs ONNX Runtime; install libonnxruntime.so.1, or name its folder in LD_LIBRARY_PATH (",
                           LD_LIBRARY_PATH="/nonexistent")

    def test_a_library_that_is_no_runtime(self):
        self.linear(["n", 3])
        os.symlink(glob.glob("/lib/*/libm.so.6")[0], self.path("libonnxruntime.so.1"))
        self.check_refused("the ONNX Runtime library is no version from 1.8 on", LD_LIBRARY_PATH=self.folder.name)

    def test_another_number_of_scores_than_items_is_an_error(self):
        helper, info = self.helper, self.helper.make_tensor_value_info
        self.save([helper.make_node("Identity", ["x"], ["y"])], [info("x", self.types.FLOAT, ["n", 3])], [info("y", self.types.FLOAT, ["n", 3])])
        with self.assertRaisesRegex(AssertionError, "output 'y' of the model has 21 values for 7 items"):
            self.scores()


if __name__ == "__main__":
    unittest.main()

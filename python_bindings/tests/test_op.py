"""Tests what operators of PyTorch and functions of JAX share."""
import tessera as ts
from tessera._op import Program


def test_a_pipeline_for_several_devices_stays_one():
    x, im, f = ts.Var("x"), ts.ImageParam(ts.Float(32), 1, "im"), ts.Func("f")
    f[x] = im[x] * 2
    for program in (Program(f, [im], None, "op"), Program(lambda target: (f, [im]), None, None, "op")):
        assert program.devices == ("cpu", "cuda")
        program.callable("cpu")  # the first that is compiled
        assert program.devices == ("cpu", "cuda")
    only = Program(f.compile_to_callable([im]), None, {"cpu": "host"}, "op")
    assert only.devices == ("cpu",)

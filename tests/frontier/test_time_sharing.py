import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import infoplane as ip
import strategies
import verify
from infoplane.frontier.hull import FrontierPoint
from infoplane.frontier.time_sharing import chord_parameter, mixed_encoder
from made_up import run_of


@settings(max_examples=60, deadline=None)
@given(st.data(), strategies.joints(), st.floats(0.0, 1.0))
def test_information_is_linear_in_the_weight(data, joint, share):
    a, b = (FrontierPoint(run_of(joint, data.draw(strategies.encoders(joint.shape[0]))), 0.5) for _ in range(2))
    a, b = (a, b) if a.run.ixz <= b.run.ixz else (b, a)
    assume(b.run.ixz - a.run.ixz > 1e-6)
    target = a.run.ixz + share * (b.run.ixz - a.run.ixz)
    w, W = mixed_encoder(a, b, "ixz", target)
    verify.check_encoder(joint.p_xy, W)
    assert len(W) == len(a.run.encoder) + len(b.run.encoder)
    ixz, iyz = verify.mutual_informations(joint.p_xy, W)
    assert ixz == pytest.approx(target, abs=1e-10)
    assert iyz == pytest.approx(w * a.run.iyz + (1 - w) * b.run.iyz, abs=1e-10)
    if b.run.iyz > a.run.iyz + 1e-6:
        theta = chord_parameter(a, b)
        if theta < 1.0:
            values = [ip.bottleneck(theta).value(joint, one.run.encoder) for one in (a, b)]
            assert values[0] == pytest.approx(values[1], abs=1e-10)

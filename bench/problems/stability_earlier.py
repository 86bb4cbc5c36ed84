"""Figures of version 0.1.0 (commit 6db5b0d), with which `python -m bench stability` compares."""

from __future__ import annotations

# On 10 splits into halves; from `stability.ours`.
FIGURES: dict[str, dict[str, float]] = {
    "diabetes, boosting": {"instability": 3.3835, "fidelity": 0.7222, "largest Sa": 26.0065, "ST": 0.4248},
    "diabetes, forest of depth 4": {"instability": 2.4374, "fidelity": 0.8870, "largest Sa": 30.2924, "ST": 0.3601},
    "diabetes, forest of full depth": {"instability": 2.0774, "fidelity": 0.5498, "largest Sa": 33.0219, "ST": 0.4585},
    "breast cancer, boosting": {"instability": 14.3849, "fidelity": 0.6732, "largest Sa": 17.8449, "ST": -0.0954},
    "500 of California, boosting": {"instability": 1.7789, "fidelity": 0.5071, "largest Sa": 5.7007, "ST": 0.9716},
    "wine, forest": {"instability": 0.1246, "fidelity": 0.8650, "largest Sa": 0.9997, "ST": 0.8572},
    "diabetes, HDMR of y": {"instability": 3.0065, "fidelity": 0.2399, "largest Sa": 65.1723, "ST": 0.2827},
    "500 of California, HDMR of y": {"instability": 1.7416, "fidelity": 0.1742, "largest Sa": 10.6117, "ST": 0.9362},
    "breast cancer, HDMR of y": {"instability": 17.8885, "fidelity": 0.4345, "largest Sa": 26.2480, "ST": 0.1964},
}

# Errors of orders 1 and 2, a pair for each of the seeds 0 to 4; by problem, rows and kind; from `stability_truth.cell`.
ERRORS: dict[tuple[str, int, str], list[tuple[float, float]]] = {
    ("bilinear Gaussian, rho=0.5", 600, "from a model"): [
        (0.017046, 0.022470),
        (0.012539, 0.007326),
        (0.011166, 0.014025),
        (0.023816, 0.010443),
        (0.007271, 0.004910),
    ],
    ("bilinear Gaussian, rho=0.5", 600, "from data"): [
        (0.016451, 0.022927),
        (0.012749, 0.007223),
        (0.010902, 0.014049),
        (0.024043, 0.009936),
        (0.007735, 0.005429),
    ],
    ("bilinear Gaussian, rho=0.5", 4000, "from a model"): [
        (0.012407, 0.006849),
        (0.001640, 0.001314),
        (0.001652, 0.001584),
        (0.003027, 0.001719),
        (0.001594, 0.001908),
    ],
    ("bilinear Gaussian, rho=0.5", 4000, "from data"): [
        (0.012235, 0.007162),
        (0.001553, 0.001484),
        (0.001530, 0.001662),
        (0.003004, 0.001589),
        (0.001587, 0.002153),
    ],
    ("bilinear Gaussian, rho=0.9", 600, "from a model"): [
        (0.007405, 0.001167),
        (0.013392, 0.000657),
        (0.005745, 0.003406),
        (0.011978, 0.004402),
        (0.010946, 0.000934),
    ],
    ("bilinear Gaussian, rho=0.9", 600, "from data"): [
        (0.007576, 0.001449),
        (0.014023, 0.000652),
        (0.005737, 0.004773),
        (0.011927, 0.005044),
        (0.011269, 0.001046),
    ],
    ("bilinear Gaussian, rho=0.9", 4000, "from a model"): [
        (0.002580, 0.000401),
        (0.001335, 0.000301),
        (0.001521, 0.000461),
        (0.002164, 0.000320),
        (0.001065, 0.000235),
    ],
    ("bilinear Gaussian, rho=0.9", 4000, "from data"): [
        (0.002559, 0.000523),
        (0.001479, 0.000253),
        (0.001574, 0.000575),
        (0.002219, 0.000345),
        (0.001081, 0.000311),
    ],
    ("Ishigami", 600, "from a model"): [
        (0.170556, 0.043075),
        (0.151274, 0.040330),
        (0.181349, 0.045043),
        (0.156871, 0.042165),
        (0.172668, 0.053704),
    ],
    ("Ishigami", 600, "from data"): [
        (0.170979, 0.047813),
        (0.152712, 0.050024),
        (0.186115, 0.054376),
        (0.159086, 0.042505),
        (0.174213, 0.057071),
    ],
    ("Ishigami", 4000, "from a model"): [
        (0.003389, 0.007127),
        (0.001208, 0.005378),
        (0.002235, 0.005344),
        (0.001827, 0.007407),
        (0.001412, 0.004538),
    ],
    ("Ishigami", 4000, "from data"): [
        (0.003362, 0.006226),
        (0.001234, 0.003536),
        (0.002077, 0.004932),
        (0.001448, 0.003467),
        (0.001332, 0.003427),
    ],
    ("copula, rho=0.5", 600, "from a model"): [
        (0.025879, 0.081060),
        (0.040880, 0.150904),
        (0.023680, 0.133158),
        (0.026055, 0.246949),
        (0.077304, 0.262730),
    ],
    ("copula, rho=0.5", 600, "from data"): [
        (0.035492, 0.168260),
        (0.045248, 0.211670),
        (0.025118, 0.194388),
        (0.029448, 0.413737),
        (0.120954, 0.433614),
    ],
    ("copula, rho=0.5", 4000, "from a model"): [
        (0.002718, 0.005844),
        (0.001998, 0.011681),
        (0.002728, 0.006397),
        (0.002018, 0.006400),
        (0.002158, 0.007620),
    ],
    ("copula, rho=0.5", 4000, "from data"): [
        (0.002997, 0.015505),
        (0.002181, 0.025979),
        (0.002938, 0.019851),
        (0.002218, 0.021524),
        (0.003299, 0.022045),
    ],
}

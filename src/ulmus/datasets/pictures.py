"""Facts of the data sets of pictures."""

from ulmus.datasets.registry import Facts, OpenML

__all__ = ["PICTURES"]

_UCI = "CC BY 4.0 (UCI)"

# fmt: off
PICTURES: dict[str, Facts] = {
    "coil20": Facts(
        about=(
            "Twenty objects on a turntable, 72 grey pictures of each, with ten splits of 40 "
            "labelled rows."
        ),
        shape=(1440, 1024), classes=20, dtype="float32",
        licence="not stated; for research (Columbia CAVE)",
        citation=(
            "S. A. Nene, S. K. Nayar, H. Murase (1996). Columbia Object Image Library (COIL-20). "
            "CUCS-005-96."
        ),
        sha256="9a8a4a6ae52d20e5328165dcbddfa9a22b7ee57335678c6404b3c6f7b4167272",
        size=2303233, labels="35049b23ee21c3ea", image_shape=(32, 32),
        openml=OpenML(46783, "COIL-20"), span=(0.0, 1.0), counts=(72,) * 20,
    ),
    "jaffe": Facts(
        about="Faces of ten Japanese women, whole pictures; the classes are the persons.",
        shape=(213, 1024), classes=10, dtype="uint8",
        licence="non-commercial research",
        citation=(
            "M. Lyons, S. Akamatsu, M. Kamachi, J. Gyoba (1998). Coding facial expressions with "
            "Gabor wavelets. FG."
        ),
        sha256="6733bfa9f2c9d4604f358f6fc365739327c3915673cb954756290a249b54dbb0",
        size=201714, image_shape=(32, 32),
    ),
    "jaffe_cropped": Facts(
        about="Faces of ten Japanese women, cropped to the face; the classes are the persons.",
        shape=(213, 1024), classes=10, dtype="uint8",
        licence="non-commercial research",
        citation=(
            "M. Lyons, S. Akamatsu, M. Kamachi, J. Gyoba (1998). Coding facial expressions with "
            "Gabor wavelets. FG."
        ),
        sha256="4b0736c3628211dbcefb6beaaf5fc04ba96097080e9b24e349b523e8dbbdf3b4",
        size=207044, image_shape=(32, 32),
    ),
    "mnist": Facts(
        about="Handwritten digits, 28 × 28 grey values.",
        shape=(70000, 784), classes=10, dtype="uint8",
        licence="commonly given as CC BY-SA 3.0",
        citation=(
            "Y. LeCun, L. Bottou, Y. Bengio, P. Haffner (1998). Gradient-based learning applied "
            "to document recognition. Proceedings of the IEEE 86."
        ),
        sha256="d2432e141e10f405719a12196f9d7f902d076f7732cb6f781df3bc4977f53e4c",
        size=11507363, n_train=60000, labels="818800b46032126b", image_shape=(28, 28),
        openml=OpenML(554, "mnist_784"), span=(0.0, 255.0),
        counts=(6903, 7877, 6990, 7141, 6824, 6313, 6876, 7293, 6825, 6958),
    ),
    "optdigits": Facts(
        about="Handwritten digits as counts of dark pixels in 8 × 8 blocks.",
        shape=(5620, 64), classes=10, dtype="uint8",
        licence=_UCI,
        citation="E. Alpaydin, C. Kaynak (1998). Cascading classifiers. Kybernetika 34.",
        sha256="64550627f567bc35b37585827b4bde29d9f3d38ae1ace4762a61331f6ea01d86",
        size=142630, n_train=3823, labels="3b884bc431f46ea4", image_shape=(8, 8),
        openml=OpenML(28, "optdigits"), span=(0.0, 16.0),
        counts=(554, 571, 557, 572, 568, 558, 558, 566, 554, 562),
    ),
    "orl": Facts(
        about="Faces of forty persons, ten pictures of each, 32 × 32.",
        shape=(400, 1024), classes=40, dtype="uint8",
        licence="not stated (AT&T Laboratories Cambridge)",
        citation=(
            "F. Samaria, A. Harter (1994). Parameterisation of a stochastic model for human face "
            "identification. WACV."
        ),
        sha256="1debb93b2c2b8efc7c9242e6a793e722e8878837dcdf2bade5e2d3043ffdb8bc",
        size=369724, image_shape=(32, 32),
    ),
    "umist": Facts(
        about="Faces of twenty persons from profile to front, 32 × 32.",
        shape=(575, 1024), classes=20, dtype="uint8",
        licence="research use",
        citation=(
            "D. B. Graham, N. M. Allinson (1998). Characterising virtual eigensignatures for "
            "general purpose face recognition. NATO ASI Series F 163."
        ),
        sha256="c8a0007b77a068b77e7380c5c572db5609a4a810d14c3f6f831d841dcb9a9db1",
        size=511731, image_shape=(32, 32),
    ),
    "usps": Facts(
        about="Handwritten digits from envelopes, 16 × 16, the split of zip.train and zip.test.",
        shape=(9298, 256), classes=10, dtype="float32",
        licence="not stated; public benchmark",
        citation=(
            "J. J. Hull (1994). A database for handwritten text recognition research. IEEE PAMI "
            "16."
        ),
        sha256="797819897922cbce7669a6ded49625a4e2d1cc88a2aba47ebb017c0586ad1eb6",
        size=2370138, n_train=7291, labels="fa8db5b29cb00257", image_shape=(16, 16),
        openml=OpenML(41082, "USPS"), span=(-1.0, 1.0),
        counts=(1553, 1269, 929, 824, 852, 716, 834, 792, 708, 821),
    ),
    "uspst_mr": Facts(
        about=(
            "The 2007 handwritten digits of the manifold regularization benchmarks, with ten "
            "splits of 50 labelled rows; they are not those of zip.test."
        ),
        shape=(2007, 256), classes=10, dtype="float32",
        licence="not stated; public benchmark",
        citation=(
            "V. Sindhwani, P. Niyogi, M. Belkin (2005). Beyond the point cloud: from transductive "
            "to semi-supervised learning. ICML."
        ),
        sha256="d96af01cd8b9dc81408eb80d1079f5e62f23f1ccbdeeed5e4029c1982f7344c4",
        size=358200, image_shape=(16, 16),
    ),
    "yale": Facts(
        about="Faces of fifteen persons with different lights and expressions, 32 × 32.",
        shape=(165, 1024), classes=15, dtype="uint8",
        licence="research use",
        citation=(
            "P. N. Belhumeur, J. P. Hespanha, D. J. Kriegman (1997). Eigenfaces vs. Fisherfaces. "
            "IEEE PAMI 19."
        ),
        sha256="037ed0bc1ca4aa1c4012fe3a17f97111d9c200ab08f46d45b7d0990f2624a443",
        size=159747, image_shape=(32, 32),
    ),
    "yaleb": Facts(
        about="Faces of 38 persons under 64 lights, 32 × 32.",
        shape=(2414, 1024), classes=38, dtype="uint8",
        licence="research use",
        citation=(
            "A. S. Georghiades, P. N. Belhumeur, D. J. Kriegman (2001). From few to many: "
            "illumination cone models for face recognition. IEEE PAMI 23."
        ),
        sha256="2986c581d5cfe64a1fe82475f1746d844b1884d5c6255c7cb8b7ad1527ac1a76",
        size=2101913, image_shape=(32, 32),
    ),
    "digits": Facts(
        about="The test part of optdigits, as scikit-learn brings it.",
        shape=(1797, 64), classes=10, dtype="float64",
        licence=_UCI,
        citation="E. Alpaydin, C. Kaynak (1998). Cascading classifiers. Kybernetika 34.",
        image_shape=(8, 8),
    ),
    "olivetti": Facts(
        about="Faces of forty persons, ten pictures of each, 64 × 64: those of orl, larger.",
        shape=(400, 4096), classes=40,
        licence="not stated (AT&T Laboratories Cambridge)",
        citation=(
            "F. Samaria, A. Harter (1994). Parameterisation of a stochastic model for human face "
            "identification. WACV."
        ),
        image_shape=(64, 64),
        openml=OpenML(41083, "Olivetti_Faces"), counts=(10,) * 40,
    ),
}
# fmt: on

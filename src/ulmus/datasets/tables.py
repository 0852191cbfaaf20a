"""Facts of the data sets of tables, texts and charts."""

from ulmus.datasets.registry import Facts, OpenML

__all__ = ["TABLES"]

_UCI = "CC BY 4.0 (UCI)"

# fmt: off
TABLES: dict[str, Facts] = {
    "adult": Facts(
        about=(
            "Census records, categories one-hot; does a person earn more than 50 000 dollars a "
            "year?"
        ),
        shape=(48842, 108), classes=2, dtype="float32",
        licence=_UCI,
        citation="R. Kohavi (1996). Scaling up the accuracy of naive-Bayes classifiers. KDD.",
        sha256="9fa8f724e6770363acf9b94dbbe1164b48e46af415a9782ea4f5ab3edbc1bef0",
        size=920877, n_train=32561,
    ),
    "breast_cancer": Facts(
        about="Cell nuclei in images of breast masses, malignant or benign.",
        shape=(569, 30), classes=2, dtype="float32",
        licence=_UCI,
        citation=(
            "W. N. Street, W. H. Wolberg, O. L. Mangasarian (1993). Nuclear feature extraction "
            "for breast tumor diagnosis. SPIE 1905."
        ),
        sha256="290463d46d0b956ef819979833ed6a1f139816fca0a2e9a11a5259b8ef1c4e06",
        size=56618,
        target_names=("malignant", "benign"),
    ),
    "california_housing": Facts(
        about=(
            "Block groups of the 1990 census with the raw StatLib columns; the target is the "
            "median house value in dollars."
        ),
        shape=(20640, 8), classes=0, dtype="float32",
        licence="not stated (StatLib)",
        citation=(
            "R. K. Pace, R. Barry (1997). Sparse spatial autoregressions. Statistics & "
            "Probability Letters 33."
        ),
        sha256="bbaa63ebecb9a5e91aa9cba46d9602a1ac4a598c3a79deb7edbd105cffee8fa5",
        size=397024,
        feature_names=(
            "longitude", "latitude", "housing_median_age", "total_rooms",
            "total_bedrooms", "population", "households", "median_income",
        ),
    ),
    "covtype": Facts(
        about=(
            "Forest cover by cartographic variables; the first 11340 rows are the published "
            "training part, the next 3780 for validation."
        ),
        shape=(581012, 54), classes=7, dtype="int16",
        licence="CC BY 4.0 (UCI); © J. A. Blackard, Colorado State University",
        citation=(
            "J. A. Blackard, D. J. Dean (1999). Comparative accuracies of artificial neural "
            "networks and discriminant analysis in predicting forest cover types. Computers and "
            "Electronics in Agriculture 24."
        ),
        sha256="0a3f1fc8badd1b136a58b7b713719dfe12e5d0beca99b2166add12650bbbe75a",
        size=9941221,
    ),
    "dna": Facts(
        about=(
            "Splice junctions in DNA, sixty bases in three bits each: exon to intron, intron to "
            "exon, neither."
        ),
        shape=(3186, 180), classes=3, dtype="uint8",
        licence=_UCI,
        citation=(
            "D. Michie, D. J. Spiegelhalter, C. C. Taylor (1994). Machine Learning, Neural and "
            "Statistical Classification."
        ),
        sha256="7e5c34e0abe4e5ba9a23d8af6b9f8dc7de8b0282121e5da9257fd0aa79f973d5",
        size=74772, n_train=2000, labels="db14c8e95977a238",
        openml=OpenML(40670, "dna"), span=(0.0, 1.0), counts=(767, 765, 1654),
    ),
    "g50c": Facts(
        about=(
            "Two Gaussians in fifty dimensions with a Bayes error of 5 %, with ten splits of 50 "
            "labelled rows."
        ),
        shape=(550, 50), classes=2, dtype="float64",
        licence="not stated; public benchmark",
        citation=(
            "O. Chapelle, A. Zien (2005). Semi-supervised classification by low density "
            "separation. AISTATS."
        ),
        sha256="a3beef549fb520539b57036b33582f0963ebdc76819ed603e682352ee7df2bc6",
        size=222046,
    ),
    "iris": Facts(
        about="Sepals and petals of three species of iris.",
        shape=(150, 4), classes=3, dtype="float32",
        licence=_UCI,
        citation=(
            "R. A. Fisher (1936). The use of multiple measurements in taxonomic problems. Annals "
            "of Eugenics 7."
        ),
        sha256="c62df8325ebc32b024608e4e2553fc2e6f5be1f21b424499905a7c1096f65460",
        size=1271,
        target_names=("setosa", "versicolor", "virginica"),
    ),
    "letter": Facts(
        about="Printed capital letters of twenty fonts, described by sixteen numbers.",
        shape=(20000, 16), classes=26, dtype="uint8",
        licence=_UCI,
        citation=(
            "P. W. Frey, D. J. Slate (1991). Letter recognition using Holland-style adaptive "
            "classifiers. Machine Learning 6."
        ),
        sha256="84ec12d323a0933e96de5199a50f334a5c106d5e1d9daa254661f0ef1f7d7f91",
        size=160363, n_train=16000, labels="eb9c4c80b6d54cb7",
        openml=OpenML(6, "letter"), span=(0.0, 15.0),
        counts=(
            789, 766, 736, 805, 768, 775, 773, 734, 755, 747, 739, 761, 792,
            783, 753, 803, 783, 758, 748, 796, 813, 764, 752, 787, 786, 734,
        ),
    ),
    "libras": Facts(
        about=(
            "Hand movements of Brazilian sign language: 45 points in the plane for each of "
            "fifteen signs."
        ),
        shape=(360, 90), classes=15, dtype="float32",
        licence=_UCI,
        citation=(
            "D. B. Dias, R. C. B. Madeo, T. Rocha, H. H. Bíscaro, S. M. Peres (2009). Hand "
            "movement recognition for Brazilian sign language. IJCNN."
        ),
        sha256="723b26958ac5840132ffa57091ab7a0148363a42c22b4392e25e8a214c4bce33",
        size=51933, labels="708d64755fbdf194",
        openml=OpenML(299, "libras_move"), span=(0.0, 1.0), counts=(24,) * 15,
    ),
    "madelon": Facts(
        about=(
            "Artificial, 20 informative columns among 500; the first 2000 rows are the training "
            "part of the NIPS 2003 challenge, the others its validation part."
        ),
        shape=(2600, 500), classes=2, dtype="uint16",
        licence=_UCI,
        citation=(
            "I. Guyon, S. Gunn, A. Ben-Hur, G. Dror (2004). Result analysis of the NIPS 2003 "
            "feature selection challenge. NIPS 17."
        ),
        sha256="ffb3bbd5cc98160f5127664d08a0692faf2e1af609ec7c7019fea2d42f4d7453",
        size=1477937, n_train=2000, labels="d62134eca99b95e7",
        openml=OpenML(1485, "madelon"), span=(0.0, 999.0), counts=(1300,) * 2,
    ),
    "segment": Facts(
        about="Patches of outdoor pictures, described by nineteen numbers.",
        shape=(2310, 19), classes=7, dtype="float32",
        licence=_UCI,
        citation=(
            "Vision Group, University of Massachusetts (1990). Image Segmentation. UCI Machine "
            "Learning Repository."
        ),
        sha256="630e4900581caa00a9ec3aaf28bc26dca424111f0e8f60d4dcacc533162ca247",
        size=93844, n_train=210, labels="1d0c9899beaa354c",
        target_names=("BRICKFACE", "CEMENT", "FOLIAGE", "GRASS", "PATH", "SKY", "WINDOW"),
        openml=OpenML(36, "segment"), span=(-49.66667, 1386.329), counts=(330,) * 7,
    ),
    "shuttle": Facts(
        about="Positions of radiators in the space shuttle; four rows in five are of one class.",
        shape=(58000, 9), classes=7, dtype="int16",
        licence=_UCI,
        citation=(
            "D. Michie, D. J. Spiegelhalter, C. C. Taylor (1994). Machine Learning, Neural and "
            "Statistical Classification."
        ),
        sha256="4967b483d135eb92bb309dbe869ec1e9a23488100756527ba1cb29f1e3b2179f",
        size=431431, n_train=43500, labels="c2a1645dc3476134",
        target_names=(
            "Rad Flow", "Fpv Close", "Fpv Open", "High", "Bypass", "Bpv Close", "Bpv Open",
        ),
        openml=OpenML(40685, "shuttle"), span=(-26739.0, 15164.0),
        counts=(45586, 50, 171, 8903, 3267, 10, 13),
    ),
    "svmguide1": Facts(
        about="An astroparticle application, four columns.",
        shape=(7089, 4), classes=2, dtype="float32",
        licence="not stated (LIBSVM)",
        citation=(
            "C.-W. Hsu, C.-C. Chang, C.-J. Lin (2003). A practical guide to support vector "
            "classification."
        ),
        sha256="e39aad20fd06f52035ed97fb113159770b17044586a9ec9811da91fa9c33a420",
        size=102574, n_train=3089,
    ),
    "synthetic_control": Facts(
        about="Control charts of six kinds.",
        shape=(600, 60), classes=6, dtype="float32",
        licence=_UCI,
        citation=(
            "R. J. Alcock, Y. Manolopoulos (1999). Time-series similarity queries employing a "
            "feature-based approach. 7th Hellenic Conference on Informatics."
        ),
        sha256="72482df14baac5fcf6ff134dccfe7426de6c075ac4df662339ba4f275bfa764f",
        size=122330, labels="dbd2620fecabc2c3",
        target_names=(
            "normal", "cyclic", "increasing", "decreasing", "upward_shift", "downward_shift",
        ),
        openml=OpenML(377, "synthetic_control"), span=(-5.11493, 63.8281), counts=(100,) * 6,
    ),
    "tdt2": Facts(
        about="News stories by term counts, in thirty topics.",
        shape=(9394, 36771), classes=30, dtype="uint8",
        licence="not stated; from an LDC corpus",
        citation=(
            "C. Cieri, D. Graff, M. Liberman, N. Martey, S. Strassel (1999). The TDT-2 text and "
            "speech corpus. DARPA Broadcast News Workshop."
        ),
        sha256="c9fe4eea5ff065d7d25e8425d4b30915197bcf0544f6d91c46687816b9cc633b",
        size=2310515, stored=1224135,
    ),
    "tic_tac_toe": Facts(
        about="Boards at the end of tic-tac-toe; has x won?",
        shape=(958, 9), classes=2, dtype="int8",
        licence=_UCI,
        citation="D. W. Aha (1991). Tic-Tac-Toe Endgame. UCI Machine Learning Repository.",
        sha256="b08162c1b58d3746505944aa25f1b27db541983f008e37d8ed47caf6cff1ac80",
        size=2218,
    ),
    "waveform": Facts(
        about="Mixtures of two of three triangular waves, with noise.",
        shape=(5000, 21), classes=3, dtype="float32",
        licence=_UCI,
        citation=(
            "L. Breiman, J. H. Friedman, R. A. Olshen, C. J. Stone (1984). Classification and "
            "Regression Trees."
        ),
        sha256="b7ccc481c4ac9662cc64d6ebb4fac1a320753ff87c0bb72a4b927edda9c5ea02",
        size=202533,
    ),
    "wine": Facts(
        about="Chemical analysis of wines of three cultivars.",
        shape=(178, 13), classes=3, dtype="float32",
        licence=_UCI,
        citation=(
            "S. Aeberhard, D. Coomans, O. de Vel (1994). Comparative analysis of statistical "
            "pattern recognition methods in high dimensional settings. Pattern Recognition 27."
        ),
        sha256="3baa0deecdf840fccc5a51c8e4f086bac0caba57ccaf43a25b728c2d91486b1a",
        size=5526,
    ),
    "waveform_noise": Facts(
        about="The waves with 19 more columns of pure noise: another draw than waveform.",
        shape=(5000, 40), classes=3,
        licence=_UCI,
        citation=(
            "L. Breiman, J. H. Friedman, R. A. Olshen, C. J. Stone (1984). Classification and "
            "Regression Trees."
        ),
        openml=OpenML(60, "waveform-5000"),
    ),
    "two_moons": Facts(
        about="Two half circles in the plane that reach into each other, noise 0.1.",
        shape=(500, 2), classes=2, dtype="float64",
        licence="none needed",
        citation="scikit-learn: make_moons.",
    ),
    "two_spirals": Facts(
        about="Two spirals in the plane around each other, noise 0.05.",
        shape=(500, 2), classes=2, dtype="float64",
        licence="none needed",
        citation="Ulmus: make_spirals.",
    ),
}
# fmt: on

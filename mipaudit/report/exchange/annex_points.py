"""The points of sources that somebody signs for, and the fields of reports that speak of each.

Facts, in our words. Where a source could not be read whole, ``read`` says what was.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

AnnexName = Literal["edpb-28-2024", "nist-sp-800-226", "owasp-aisvs-1.0"]


class Shows(NamedTuple):
    """A field of a kind of report that speaks of a point.

    Attributes:
        command: that writes such reports.
        field: of its JSON; within a record as ``outer.inner``.
        quantity: of its figures, where they are of several.
    """

    command: str
    field: str
    quantity: str = ""


class Point(NamedTuple):
    """A point of a source.

    Attributes:
        place: its paragraph or section, or the heading that it stands under.
        about: what it asks, in our words.
        shows: what speaks of it; nothing where no report of ours does.
        unsaid: what they do not say of it.
        partly: whether they answer a part of the question at most.
    """

    place: str
    about: str
    shows: tuple[Shows, ...] = ()
    unsaid: str = ""
    partly: bool = False


class Source(NamedTuple):
    """A source, as it was read.

    Attributes:
        name: as it is asked for.
        title: what it is.
        read: what of it was read, and where.
        points: in its order.
    """

    name: AnnexName
    title: str
    read: str
    points: tuple[Point, ...]


_ADVANTAGE: Final = Shows("estimate", "estimates", "advantage")
_AT_LOW_FPR: Final = Shows("estimate", "estimates", "tpr_at_fpr")
_ALIKE: Final = Shows("shift", "estimates", "advantage")
_COPIES: Final = Shows("query", "copies")
_SEEN_BY: Final = Shows("estimate", "provenance.declared.seen_by")
_GUARANTEE: Final = (
    Shows("bounds", "guarantee.kind"),
    Shows("bounds", "guarantee.epsilon"),
    Shows("bounds", "attacker", "accuracy"),
)
_EPSILON: Final = Shows("epsilon", "statements", "epsilon")
_OUTSIDE: Final = "No report of mipaudit covers it."

_EDPB: Final = Source(
    name="edpb-28-2024",
    title="EDPB Opinion 28/2024, when an AI model may count as anonymous",
    read="Paragraphs 34, 43, 55, 58 and 134 in the words that others quote, and the executive "
    "summary; not the whole Opinion.",
    points=(
        Point(
            "para. 34",
            "That a model was trained on personal data does not make it anonymous: it is to be "
            "assessed case by case.",
            unsaid="Whether the model is anonymous: a limit that is met is no such finding.",
        ),
        Point(
            "para. 43 (i)",
            "How likely it is that personal data of those in the training data are extracted from "
            "the model itself, by odds too: it should be insignificant.",
            (_COPIES,),
            "Anything but records that appear unchanged in synthetic data.",
            partly=True,
        ),
        Point(
            "para. 43 (ii)",
            "How likely it is that such data are obtained by queries, on purpose or not: it should "
            "be insignificant.",
            (_ADVANTAGE,),
            "What a query reveals besides membership, and queries that were not scored.",
            partly=True,
        ),
        Point(
            "para. 43",
            "Insignificant for each person, not on average.",
            (_AT_LOW_FPR, Shows("records", "estimates", "risk")),
            "A limit on one named person.",
        ),
        Point(
            "para. 55 (i)",
            "Structured tests against membership inference.",
            (_ADVANTAGE, _AT_LOW_FPR),
            "Attackers who see more than the scores.",
        ),
        Point(
            "para. 55 (i)",
            "Structured tests against attribute inference.",
            (Shows("attribute", "figures", "attribute_advantage"),),
            "Guesses that were not made.",
        ),
        Point("para. 55 (ii)", "Structured tests against exfiltration.", unsaid=_OUTSIDE),
        Point(
            "para. 55 (iii)",
            "Structured tests against regurgitation of training data.",
            (_COPIES,),
            "What a model can be made to say: only tables of records are compared.",
            partly=True,
        ),
        Point("para. 55 (iv)", "Structured tests against model inversion.", unsaid=_OUTSIDE),
        Point("para. 55 (v)", "Structured tests against reconstruction.", unsaid=_OUTSIDE),
        Point(
            "para. 55",
            "Scope, frequency, quantity and quality of the tests; what passed is evidence against "
            "the attacks that were tried, and no others.",
            (
                Shows("estimate", "design.n_members"),
                Shows("estimate", "design.n_holdout"),
                Shows("estimate", "design.score_columns"),
                Shows("estimate", "design.confidence"),
                _ALIKE,
            ),
            "How often tests are repeated. Shift says whether members and holdout records differ "
            "but for membership, which would spoil the test.",
        ),
        Point(
            "para. 58 (c)",
            "The threat model and the risk assessments that measures rest on.",
            (_SEEN_BY,),
            "The assessment itself, which is the controller's.",
        ),
        Point(
            "para. 58 (e)",
            "What makes the model resist in theory, such as how much training data there is for "
            "each parameter.",
            _GUARANTEE,
            "The size of the model.",
            partly=True,
        ),
        Point(
            "para. 58 (e)",
            "Controls that limit, or assess, the success and the impact of the main attacks.",
            (Shows("estimate", "verdict.status"), Shows("estimate", "verdict.reasons")),
            "How the controls work, and the impact on people: a verdict on scores is a part of "
            "such an assessment.",
            partly=True,
        ),
        Point(
            "para. 134",
            "Saying that a model is anonymous is not enough.",
            (Shows("estimate", "provenance.inputs"),),
            "What the controller has to document. The name and the content of a file say what was "
            "audited, and whether this evidence suffices, the authority decides.",
            partly=True,
        ),
    ),
)

_NIST: Final = Source(
    name="nist-sp-800-226",
    title="NIST SP 800-226, how to evaluate a guarantee of differential privacy",
    read="The initial public draft (December 2023), sections 2, 4 and part of 3; not the final "
    "publication (March 2025), whose sections may differ.",
    points=(
        Point(
            "sec. 2.2",
            "Epsilon: up to 1 is thought to protect well; a large epsilon may protect little.",
            (*_GUARANTEE, _EPSILON),
            "That the guarantee holds: limits on epsilon can refute one, and never prove it.",
        ),
        Point(
            "sec. 2.2",
            "The budget: epsilons of all analyses of the same data add up.",
            unsaid="What else was released from these data: nobody stated it.",
        ),
        Point(
            "sec. 2.3",
            "Delta is small compared with the number of people, and all original parameters are "
            "given.",
            (
                Shows("bounds", "guarantee.parameters"),
                Shows("bounds", "guarantee.delta"),
                Shows("epsilon", "design.delta"),
            ),
        ),
        Point(
            "sec. 2.4",
            "The unit of privacy: a person, or an event of which one person has many.",
            (Shows("bounds", "guarantee.adjacency"),),
            "Whether a row is a person.",
            partly=True,
        ),
        Point(
            "sec. 2.6",
            "Other releases of the same data without differential privacy, which the guarantee "
            "does not protect.",
            unsaid="What else was released from these data: nobody stated it.",
        ),
        Point(
            "sec. 3.6",
            "Synthetic data of a generative model that was trained without differential privacy "
            "may give people away.",
            (_COPIES, _ADVANTAGE),
        ),
        Point(
            "sec. 4.2",
            "The threat model: who is trusted, and whether that is so.",
            (_SEEN_BY,),
            "Whether they can be trusted.",
        ),
        Point(
            "sec. 4.3",
            "The implementation keeps what the mathematics promise.",
            (_EPSILON, Shows("epsilon", "claim.reason")),
            "Channels beside the scores, such as time; arithmetic; the code.",
        ),
        Point("sec. 4.4", "Security of the data, and who has access.", unsaid=_OUTSIDE),
        Point("sec. 4.5", "Whether so much had to be collected.", unsaid=_OUTSIDE),
    ),
)

_AISVS: Final = Source(
    name="owasp-aisvs-1.0",
    title="OWASP AISVS 1.0, C11.2: membership inference and model inversion",
    read="C11.2 of version 1.0, in the text of August 2026; its other chapters are not answered.",
    points=(
        Point(
            "11.2.1 (level 1)",
            "No sensitive attribute that the model infers is returned as it is.",
            (Shows("attribute", "figures", "attribute_advantage"),),
            "What an endpoint returns.",
            partly=True,
        ),
        Point(
            "11.2.2 (level 1)",
            "Rates of queries are limited for each caller and in all, by the threat of extraction.",
            unsaid=_OUTSIDE,
        ),
        Point(
            "11.2.3 (level 2)",
            "Outputs are calibrated, so that predictions are not too sure.",
            unsaid="No report of mipaudit covers calibration; what calibration leaves shows in "
            "11.2.5.",
        ),
        Point(
            "11.2.4 (level 2)",
            "Training on sensitive data is differentially private.",
            (*_GUARANTEE, _EPSILON),
            "How the model was trained: a guarantee is as stated.",
            partly=True,
        ),
        Point(
            "11.2.5 (level 3)",
            "Simulated attacks on membership are no more accurate than guessing.",
            (Shows("estimate", "estimates", "accuracy"), _ADVANTAGE, _AT_LOW_FPR, _ALIKE),
            "That no attack is: 'at most' holds for the attackers named.",
        ),
    ),
)

SOURCES: Final = (_EDPB, _NIST, _AISVS)

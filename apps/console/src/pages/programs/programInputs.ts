import { DisplayName } from "@outreach/domain/DisplayName"
import { MAX_TARGET, WHEN_REACHED } from "@outreach/domain/programs/Program"
import { noneOr, wholeNumber } from "@outreach/domain/textSchema"
import { field, type InputsOf, pickDefined } from "../../http/inputs.ts"

const Target = noneOr(wholeNumber(1, MAX_TARGET), `none, or a whole number from 1 to ${MAX_TARGET}`)

const target = (label: string, whenReached: string) =>
  field(Target, label, { hint: `Or none. When it is reached, ${whenReached}.`, value: "none", size: 10 })

/** The changeable values of a program. */
export const programInputs = {
  name: field(DisplayName, "Name", { hint: "For people; each e-mail may show it", size: 32 }),
  "sender-name": field(DisplayName, "Sender name", {
    hint: "Who sends its e-mails, as each of them shows. No campaign is created without it",
    size: 32,
  }),
  "postal-address": field(DisplayName, "Postal address", {
    hint: "Of the sender, on one line, as each e-mail shows it",
    size: 40,
  }),
  "learner-target": target("Learners wanted", WHEN_REACHED.learner_qualified),
  "completer-target": target("Completers wanted", WHEN_REACHED.completer_qualified),
}

/** Returns the given values of a program by the domain's names. */
export const programDetails = (given: Partial<InputsOf<typeof programInputs>>) =>
  pickDefined({
    name: given.name,
    senderName: given["sender-name"],
    postalAddress: given["postal-address"],
    learnerTarget: given["learner-target"],
    completerTarget: given["completer-target"],
  })

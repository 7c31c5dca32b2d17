import { DisplayName } from "@outreach/domain/DisplayName"
import { MAX_TARGET, WHEN_REACHED } from "@outreach/domain/programs/Program"
import { noneOr, wholeNumber } from "@outreach/domain/textSchema"
import { field, type InputsOf, pickDefined } from "../../http/inputs.ts"

const Target = noneOr(wholeNumber(1, MAX_TARGET), `none, or a whole number from 1 to ${MAX_TARGET}`)

const target = (label: string, whenReached: string) =>
  field(Target, label, { hint: `Or none. When it is reached, ${whenReached}.`, value: "none", size: 10 })

/** The changeable values of a program. */
export const programInputs = {
  name: field(DisplayName, "Name", { hint: "Shown to operators and in e-mails", size: 32 }),
  "sender-name": field(DisplayName, "Sender name", {
    hint: "Shown in each e-mail; required for campaigns",
    size: 32,
  }),
  "postal-address": field(DisplayName, "Postal address", {
    hint: "Shown in each e-mail; required for campaigns",
    size: 40,
  }),
  "learner-target": target("Learner target", WHEN_REACHED.learner_qualified),
  "completer-target": target("Completer target", WHEN_REACHED.completer_qualified),
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

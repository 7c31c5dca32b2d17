interface Advice {
  /** For the partner. */
  readonly you: string
  /** For operators, about the partner. */
  readonly partner: string
}

/** Advice about quarantine reasons by their start. */
const ADVICE: Readonly<Record<string, Advice>> = {
  "livemode:": {
    partner:
      "It was sent to the wrong deployment and can't be applied here. Tell the partner to send it to the other deployment.",
    you: "You sent it to the wrong deployment, where it can't be applied. Send it to the other deployment.",
  },
  "data.consumer_program_slug names no program": {
    partner:
      "Create a program with the event's slug, then replay the event. If the slug is wrong, the partner must send the event again with a new id.",
    you: "If the slug is wrong, send the event again with a new id. Otherwise ask us to create the program.",
  },
  "it could not be applied:": {
    partner: "The database rejected it. See the worker's log. Fix the cause, then replay the event.",
    you: "We failed to apply it, and apply it again after the cause is fixed. You don't need to send it again.",
  },
}

const INVALID: Advice = {
  partner: "The event is invalid, so a replay fails too. The partner must send a corrected event with a new id.",
  you: "The event is invalid. Send a corrected event with a new id.",
}

/** Returns advice for an operator or for the partner about a quarantine reason. */
export const quarantineAdvice = (reason: string): Advice =>
  Object.entries(ADVICE).find(([start]) => reason.startsWith(start))?.[1] ?? INVALID

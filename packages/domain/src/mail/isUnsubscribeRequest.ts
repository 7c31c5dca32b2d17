import type { ReplyText } from "./Reply.ts"

/** What people write to get no more e-mails, as words without case, accents and punctuation. */
const REQUESTS = {
  english: [
    ...[
      "stop",
      "stop all",
      "stop it",
      "stop emails",
      "stop e mails",
      "stop mails",
      "stop emailing",
      "stop emailing me",
    ],
    ...["unsubscribe", "unsubscribe me", "unsubscribe all", "unsubscribe me from this list", "opt out", "optout"],
    ...["remove", "remove me", "remove me from this list", "remove me from your list", "take me off this list"],
    ...["take me off your list", "no more emails", "no more e mails", "do not email me", "don t email me"],
  ],
  spanish: [
    ...[
      "baja",
      "dar de baja",
      "darse de baja",
      "darme de baja",
      "dame de baja",
      "deme de baja",
      "quiero darme de baja",
    ],
    ...["cancelar suscripcion", "cancelar la suscripcion", "cancelar mi suscripcion", "desuscribir", "desuscribirme"],
    ...["desuscribirse", "no mas correos", "no mas emails"],
  ],
  french: [
    ...[
      "arret",
      "arreter",
      "arretez",
      "desabonner",
      "me desabonner",
      "desabonnez moi",
      "desabonnement",
      "se desabonner",
    ],
    ...["desinscrire", "me desinscrire", "desinscrivez moi", "desinscription", "se desinscrire", "plus de mails"],
    ...["plus d emails", "plus d e mails"],
  ],
  german: [
    ...[
      "abmelden",
      "abmeldung",
      "abbestellen",
      "abbestellung",
      "austragen",
      "stopp",
      "mich abmelden",
      "mich austragen",
    ],
    ...["newsletter abbestellen", "newsletter abmelden", "keine mails mehr", "keine emails mehr", "keine e mails mehr"],
  ],
} as const

/** What may stand around a request. */
const COURTESIES = [
  ...[
    "please",
    "pls",
    "thanks",
    "thank you",
    "por favor",
    "gracias",
    "s il vous plait",
    "s il te plait",
    "svp",
    "merci",
  ],
  ...["bitte", "danke"],
].join("|")

const REQUEST = new RegExp(
  `^(?:(?:${COURTESIES}) )*(?:${Object.values(REQUESTS).flat().join("|")})(?: (?:${COURTESIES}))*$`,
)

/** A longer line is more than a request. */
const MAX_LINE_LENGTH = 200

/**
 * Reports whether a person asks to get no more e-mails: with the subject alone, or with the first line of the text alone. A subject after
 * `Re:` is the message's own, and asks nothing.
 */
export const isUnsubscribeRequest = ({ subject, text }: ReplyText): boolean =>
  isRequest(subject) || isRequest(text.split("\n").find((line) => /\S/.test(line)) ?? "")

const isRequest = (line: string): boolean => line.length <= MAX_LINE_LENGTH && REQUEST.test(wordsOf(line))

const wordsOf = (text: string): string =>
  (
    text
      .normalize("NFKD")
      .replaceAll(/\p{M}/gu, "")
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  ).join(" ")

import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { isUnsubscribeRequest } from "../../src/mail/isUnsubscribeRequest.ts"
import { readReply } from "../../src/mail/readReply.ts"

const REQUESTS = [
  ...["Stop", "STOP.", "stop!!", "Unsubscribe", "unsubscribe me, please", "Please remove me.", "OPT-OUT", "opt out"],
  ...["Please unsubscribe me from this list, thank you!", "¡Baja, por favor!", "Darme de baja", "cancelar suscripción"],
  ...[
    "Désabonner",
    "Se désabonner s'il vous plaît",
    "DÉSINSCRIPTION",
    "desinscription",
    "Arrêtez !",
    "plus d'e-mails, merci",
  ],
  ...["Abmelden", "Bitte abmelden.", "Bitte keine E-Mails mehr, danke", "„Abbestellen“", "**unsubscribe**"],
]

const OTHERS = [
  ...[
    "",
    "   ",
    "Re: Stop",
    "Don't stop",
    "Please do not unsubscribe me",
    "How do I unsubscribe?",
    "nonstop",
    "stop by",
  ],
  ...["I want to know more about the study", "Thanks", "Please", "Baja California", "remove the first question"],
  ...["Abmeldung vom Kurs am Montag", "unsubscribe ".repeat(40)],
]

const QUOTED = "On Mon, Acme wrote:\n> Unsubscribe\n> stop"

describe("a request to unsubscribe", () => {
  it.each(REQUESTS)("is %j, as the subject or as the first line, whatever is quoted below", (words) => {
    for (const message of [
      { subject: words, text: "" },
      { subject: "Re: An invitation", text: `\r\n  ${words}  \r\n\r\n--\r\nDr Reyes\r\n${QUOTED}` },
      { subject: "Re: An invitation", html: `<div>${words}</div><blockquote>An invitation</blockquote>` },
      { subject: "", text: `> An invitation\n> unsubscribe here\n\n${words}` },
    ]) {
      expect(isUnsubscribeRequest(readReply(message))).toBe(true)
    }
  })

  it("is found in a word that holds what shows nothing", () => {
    expect(isUnsubscribeRequest(readReply({ text: "\u200eSt\u00adop\ufeff" }))).toBe(true)
  })

  it.each(OTHERS)("is not %j", (words) => {
    expect(isUnsubscribeRequest(readReply({ subject: words, text: `${words}\n${QUOTED}` }))).toBe(false)
  })

  it("is known in any case, and between any punctuation and spaces", () => {
    const mark = fc.constantFrom(..." .,;:!?*_-\u00a0\t\u3000\u2019\u201c")
    const marks = fc.string({ unit: mark, maxLength: 6 })
    fc.assert(
      fc.property(fc.constantFrom(...REQUESTS), marks, marks, fc.boolean(), (words, before, after, isUpper) => {
        const line = before + (isUpper ? words.toUpperCase() : words.toLowerCase()) + after
        expect(isUnsubscribeRequest({ subject: line, text: "" })).toBe(true)
        expect(isUnsubscribeRequest({ subject: "Re: x", text: `\n${line}\nmore` })).toBe(true)
      }),
    )
  })

  it("is none with any other word beside it", () => {
    const word = fc.stringMatching(/^x[a-z]{1,8}$/)
    fc.assert(
      fc.property(fc.constantFrom(...REQUESTS), word, fc.boolean(), (words, other, isBefore) => {
        const line = isBefore ? `${other} ${words}` : `${words} ${other}`
        expect(isUnsubscribeRequest({ subject: line, text: line })).toBe(false)
      }),
    )
  })
})

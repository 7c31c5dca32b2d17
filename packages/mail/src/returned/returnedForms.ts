import type { Email } from "postal-mime"
import { headsOf } from "./parseReturned.ts"

/**
 * How a mail system writes bounces or delay notices for people. Its samples in `packages/mail/test/returned` name the sources.
 *
 * In a bounce, a line that starts with an address starts the reason for that recipient (`readNotice`).
 */
interface ReturnedForm {
  /** The mail system. */
  readonly name: string
  readonly kind: "bounce" | "delay"
  /** Header fields that all must match, by name in lower case. */
  readonly head?: Readonly<Record<string, RegExp>>
  /** Matches the line before the reasons. Without it, the reasons are searched in the whole text. */
  readonly opening?: RegExp
  /** Matches the line after the reasons, in addition to `END`. */
  readonly end?: RegExp | undefined
  /** The form reports a failure without its cause. */
  readonly isGuess?: true
}

type Texts = RegExp | ReadonlyArray<RegExp>

/** Matches any of these texts at the start of a line, ignoring case. */
const startOf = (texts: Texts) => {
  const sources = [texts].flat().map(({ source }) => source)
  return new RegExp(`^(?:${sources.join("|")})`, "i")
}

/** Matches the line before the returned message or its header, in notices of any server. */
export const END: RegExp = startOf([
  /-{3,} ?(?:below this line is|(?:this|attachment) is a copy of|the header of the original|original message)/,
  /-{3,} ?(?:unsent message follows|message header follows|recipients of this delivery)/,
  /(?:original message (?:headers|follows)|(?:possibly truncated|below is a copy of the) original message)/,
  /content-type: (?:message\/|text\/rfc822-headers)|received: (?:from|by) |return-path: </,
])

/** Senders' addresses of mail systems. */
const SYSTEM =
  /mailer-?daemon|^<>$|postmaster|mail delivery|delivery (sub)?system|system administrator|mail administrator|mailmarshal@|mdaemon@|bounce@/i

/** Reports whether a mail system wrote a message, by its header. */
export const isOfSystem = (message: Email): boolean => {
  const heads = headsOf(message)
  return SYSTEM.test(heads.get("from") ?? "") || /^<(mailer-daemon\b.*)?>$/i.test(heads.get("return-path") ?? "")
}

const FAILURE_SUBJECT =
  /undeliver|delivery (has )?fail|fail\w* (delivery|notice)|delivery status notification \(failure|returned mail|(mail|message|delivery).{0,20}(returned|error|problem|not delivered)|could ?n.t be delivered|unzustellbar|nicht zustellbar|non remis|non distribu|echec|échec|no se puede entregar|no entregado|devuelto|mancato recapito|non recapitabile|não (é possível|foi possível) entregar|onbestelbaar|niet bezorgd|kunde inte leverer|olevererbart|ikke leveres|配信|未达|退信|недостав/i

const delay = (name: string, opening: Texts): ReturnedForm => ({ name, kind: "delay", opening: startOf(opening) })

const bounce = (name: string, opening: Texts, end?: Texts): ReturnedForm => ({
  ...{ name, kind: "bounce", opening: startOf(opening), end: end && startOf(end) },
})

const byHead = (name: string, head: Readonly<Record<string, RegExp>>): ReturnedForm => ({ name, kind: "bounce", head })

/** The first form that fits decides. Delays come first: some bounces start with the same words. */
export const RETURNED_FORMS: ReadonlyArray<ReturnedForm> = [
  delay("exim, delay", /a message that you sent has not yet been delivered/),
  delay("sendmail, delay", [
    /\*\* {6}this is a warning message only|----- the following addresses had transient non-fatal errors/,
    /warning: (?:message still undelivered after|could not send message for past)/,
  ]),
  delay("Gmail and Microsoft, delay", [
    /this is a warning message only|delivery to the following recipients? has been delayed/,
    /\*\* delivery incomplete \*\*|there was a temporary problem delivering your message/,
    /this message hasn't been delivered yet/,
  ]),
  delay("postfix, delay", /# this is a warning only|your message could not be delivered for/),
  delay("OpenSMTPD, delay", /a message is delayed for more than/),
  delay("Courier, delay", /delays in delivering your message/),
  delay("nullmailer, delay", /delivery will continue to be attempted until/),
  bounce("qmail (QSBMF)", /hi\. (?:this is the|the mta program at)/, /--- enclosed are the original headers/),
  bounce("postfix", /i(?:'| a)m sorry to have to inform you that/),
  bounce("IONOS", /the following address(?:es)? failed/),
  bounce(
    "exim, and others in its words",
    /a message that you sent (?:could not be delivered|contained one or more recipient addresses)/,
    /included is a copy of the message header/,
  ),
  bounce("sendmail", /----- the following addresses had (?:permanent fatal errors|delivery problems)/),
  bounce("sendmail 5", /----- transcript of session follows/),
  bounce("Gmail, in text", /delivery to the following recipients? failed permanently/),
  bounce("Gmail", /\*\* (?:address not found|message (?:blocked|not delivered|too large)|recipient inbox full) \*\*/),
  bounce("Google Groups", /we're writing to let you know that the group you tried to contact/),
  bounce(
    "Yahoo",
    /(?:unable to deliver message|sorry, we were unable to deliver your message) to the following address/,
  ),
  bounce("Exchange 5.5 and 2000", /did not reach the following recipient/),
  bounce("Exchange 2003", /the following recipient\(s\) (?:could not|cannot) be reached/),
  bounce(
    "Exchange 2007 and later, Office 365",
    [
      /diagnostic information for administrators|informations de diagnostic pour les administrateurs/,
      /diagnoseinformationen für administratoren|informazioni di diagnostica per gli amministratori/,
      /información de diagnóstico para los administradores|diagnostisk information för administratörer/,
      /diagnostische gegevens voor beheerders|informações de diagnóstico para administradores/,
      /reported error:|error details/,
    ],
    [
      /dsn generated by:|en-têtes de message d'origine|ursprüngliche nachrichtenkopfzeilen/,
      /intestazioni originali del messaggio|encabezados de mensajes originales|ursprungshuvuden/,
      /oorspronkelijke berichtkoppen|cabeçalhos de mensagem originais|message hops/,
    ],
  ),
  bounce("Outlook.com, Hotmail and IIS", [
    /delivery to the following recipients failed|unable to deliver message to the following recipients/,
  ]),
  bounce("IBM Domino", /was not delivered to:/),
  bounce("Novell GroupWise", [
    /the message that you sent was undeliverable to the following/,
    /the attached file had the following undeliverable recipient/,
  ]),
  bounce("Sun Messaging Server, iCloud", /your message cannot be delivered to the following recipients/),
  bounce("Mimecast", /an email that you attempted to send to the following address/),
  bounce("Barracuda", /was blocked by our spam firewall/),
  bounce("Symantec MessageLabs", [
    /i was not able to deliver your message to the following|this is the mail delivery agent at messagelabs\.com/,
  ]),
  bounce("Apache James", /error message below|failed recipient\(s\):/, /message details:/),
  bounce(
    "MailMarshal",
    /could not be delivered because of/,
    /the following recipients were affected|additional information/,
  ),
  bounce("MailFoundry", /delivery failed for the following reason/, /this has been a permanent failure/),
  bounce("m-FILTER", /-------server message/),
  bounce("Trend Micro InterScan", /sent (?:>>>|<<<) rcpt to|unable to deliver message to </),
  bounce("SurfControl", /your message could not be sent/, /the message header/),
  bounce(
    "Courier",
    /your message to the following recipients cannot be delivered|undeliverable mail/,
    /if your message was also sent to additional/,
  ),
  bounce("OpenSMTPD", /an error has occurred while attempting to deliver a message/),
  bounce("McAfee", /--- the following addresses had delivery problems/),
  bounce(
    "MDaemon",
    /failed address:|the following data may contain sections which represent bounced messages/,
    /--- (?:session|end) transcript|: message contains/,
  ),
  bounce("HCL Notes", /------- failure reasons/, /------- returned message/),
  bounce("Smail 3, T-Online", /\|-{25} failed addresses follow/, /\|-{25} message/),
  bounce("DragonFly Mail Agent", /there was an error delivering your mail to </, /message headers follow/),
  bounce("KDDI au (ezweb)", /each of the following recipients was rejected/),
  bounce("Sisimai's X1", /---the following addresses had delivery errors---/),
  bounce("Sisimai's X6", /we had trouble delivering your message/, /the attachment contains the original mail headers/),
  byHead("qmail, in other words", { received: /\(qmail \d+ invoked for bounce\)/ }),
  byHead("IMail", { "x-mailer": /^<SMTP32 v/i }),
  byHead("X-Failed-Recipients", { "x-failed-recipients": /@/ }),
  {
    ...byHead("a report without fields", { "content-type": /report-type="?(global-)?delivery-status/i }),
    isGuess: true,
  },
  { ...byHead("a subject of mail systems", { from: SYSTEM, subject: FAILURE_SUBJECT }), isGuess: true },
  // Automatic replies can have an empty sender, too. They repeat our subject after a colon.
  {
    ...byHead("a subject of mail systems, from nobody", {
      "return-path": /^<>$/,
      subject: new RegExp(`^[^:：]*(?:${FAILURE_SUBJECT.source})`, "i"),
    }),
    isGuess: true,
  },
]

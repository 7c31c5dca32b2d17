/**
 * How mail systems word bounces and delay notices in texts for people. The first form that fits decides.
 *
 * Texts are compared by the starts of their lines, ignoring case. In a bounce, a line that starts with an address starts the reason for that
 * recipient (`readNotice`).
 */
export interface ReturnedForm {
  /** The mail system. */
  readonly name: string
  readonly kind: "bounce" | "delay"
  readonly source: string
  /** The years or versions in which the form was seen. */
  readonly seen: string
  /** Header fields that all must match, by name in lower case. */
  readonly head?: Readonly<Record<string, RegExp>>
  /** Starts of the line before the reasons. Without any, the reasons are searched in the whole text. */
  readonly opening?: ReadonlyArray<string>
  /** Starts of the line after the reasons, in addition to `ENDS`. */
  readonly end?: ReadonlyArray<string>
  /** The form reports a failure without its cause. */
  readonly isGuess?: true
}

/** Where most forms are published. */
export const SISIMAI = "the tables of https://github.com/sisimai/p5-sisimai"

/** Beginnings of the line before the returned message or its header, in notices of any server. */
export const ENDS: ReadonlyArray<string> = [
  "--- below this line is", // qmail
  "------ this is a copy of", // exim
  "--- attachment is a copy of", // Chinese qmail
  "--- the header of the original", // GMX, IONOS
  "--- original message follows", // Yahoo
  "----- original message", // Gmail, sendmail
  "-----original message",
  "----- unsent message follows", // sendmail 5
  "----- message header follows",
  "----- recipients of this delivery",
  "-------original message", // m-FILTER
  "original message headers", // Exchange
  "original message follows", // IMail
  "possibly truncated original message", // GroupWise
  "below is a copy of the original message", // OpenSMTPD
  "content-type: message/",
  "received: from ",
  "received: by ",
  "return-path: <",
  "content-type: text/rfc822-headers",
]

const delay = (name: string, source: string, seen: string, opening: ReadonlyArray<string>): ReturnedForm => ({
  ...{ name, kind: "delay", source, seen, opening },
})

const bounce = (
  name: string,
  source: string,
  seen: string,
  opening: ReadonlyArray<string>,
  end: ReadonlyArray<string> = [],
): ReturnedForm => ({ name, kind: "bounce", source, seen, opening, end })

/** Delay notices and bounces in texts for people. Delays come first: some bounces start with the same words. */
export const NOTICES: ReadonlyArray<ReturnedForm> = [
  delay("exim, delay", "exim 4.96, deliver.c", "since 1998", ["a message that you sent has not yet been delivered"]),
  delay("sendmail, delay", "sendmail 8.17, savemail.c, deliver.c", "since 1993", [
    "**      this is a warning message only",
    "----- the following addresses had transient non-fatal errors",
    "warning: message still undelivered after",
    "warning: could not send message for past",
  ]),
  delay("Gmail and Microsoft, delay", `${SISIMAI} (Gmail); RFC 3464 texts of Exchange`, "since 2003", [
    "this is a warning message only",
    "delivery to the following recipient has been delayed",
    "delivery to the following recipients has been delayed",
    "** delivery incomplete **",
    "there was a temporary problem delivering your message",
    "this message hasn't been delivered yet",
  ]),
  delay("postfix, delay", "https://www.postfix.org/bounce.5.html (delay template)", "2.3 to 3.9", [
    "# this is a warning only",
    "your message could not be delivered for",
  ]),
  delay("OpenSMTPD, delay", "OpenSMTPD 6.8, bounce.c", "since 2012", ["a message is delayed for more than"]),
  delay("Courier, delay", "Courier 1.0.16, dsndelayed.txt", "since 2000", ["delays in delivering your message"]),
  delay("nullmailer, delay", "nullmailer 2.2, nullmailer-dsn.cc", "since 2017", [
    "delivery will continue to be attempted until",
  ]),
  bounce(
    "qmail (QSBMF)",
    "https://cr.yp.to/proto/qsbmf.txt",
    "since 1997",
    ["hi. this is the", "hi. the mta program at"],
    ["--- enclosed are the original headers"],
  ),
  bounce(
    "postfix",
    "https://www.postfix.org/bounce.5.html (failure template); bounce_notify_util.c before 2.3",
    "since 1999",
    ["i'm sorry to have to inform you that", "i am sorry to have to inform you that"],
  ),
  bounce("IONOS", `${SISIMAI} (EinsUndEins)`, "since 2012", [
    "the following address failed",
    "the following addresses failed",
  ]),
  bounce(
    "exim, and others in its words",
    "exim 4.96, deliver.c",
    "since 1998",
    [
      "a message that you sent could not be delivered",
      "a message that you sent contained one or more recipient addresses",
    ],
    ["included is a copy of the message header"],
  ),
  bounce("sendmail", "sendmail 8.17, savemail.c", "since 1993", [
    "----- the following addresses had permanent fatal errors",
    "----- the following addresses had delivery problems",
  ]),
  bounce("sendmail 5", `${SISIMAI} (V5sendmail)`, "1983 to 1993; still in appliances", [
    "----- transcript of session follows",
  ]),
  bounce("Gmail, in text", `${SISIMAI} (Gmail)`, "2004 to 2016", [
    "delivery to the following recipient failed permanently",
    "delivery to the following recipients failed permanently",
  ]),
  bounce("Gmail", "https://support.google.com/mail/answer/6596", "since 2016", [
    "** address not found **",
    "** message blocked **",
    "** message not delivered **",
    "** recipient inbox full **",
    "** message too large **",
  ]),
  bounce("Google Groups", `${SISIMAI} (GoogleGroups)`, "since 2015", [
    "we're writing to let you know that the group you tried to contact",
  ]),
  bounce("Yahoo", `${SISIMAI} (Yahoo)`, "2003 to 2019", [
    "unable to deliver message to the following address",
    "sorry, we were unable to deliver your message to the following address",
  ]),
  bounce("Exchange 5.5 and 2000", `${SISIMAI} (Exchange2003)`, "1997 to 2010", [
    "did not reach the following recipient",
  ]),
  bounce("Exchange 2003", `${SISIMAI} (Exchange2003)`, "2003 to 2014", [
    "the following recipient(s) could not be reached",
    "the following recipient(s) cannot be reached",
  ]),
  bounce(
    "Exchange 2007 and later, Office 365",
    "https://learn.microsoft.com/exchange/mail-flow/non-delivery-reports-and-bounce-messages",
    "since 2007; in English, French, German, Italian, Spanish, Swedish, Dutch, Portuguese",
    [
      "diagnostic information for administrators",
      "informations de diagnostic pour les administrateurs",
      "diagnoseinformationen für administratoren",
      "informazioni di diagnostica per gli amministratori",
      "información de diagnóstico para los administradores",
      "diagnostisk information för administratörer",
      "diagnostische gegevens voor beheerders",
      "informações de diagnóstico para administradores",
      "reported error:",
      "error details",
    ],
    [
      "dsn generated by:",
      "en-têtes de message d'origine",
      "ursprüngliche nachrichtenkopfzeilen",
      "intestazioni originali del messaggio",
      "encabezados de mensajes originales",
      "ursprungshuvuden",
      "oorspronkelijke berichtkoppen",
      "cabeçalhos de mensagem originais",
      "message hops",
    ],
  ),
  bounce("Outlook.com, Hotmail and IIS", `${SISIMAI} (Outlook, RFC 3464)`, "since 2000", [
    "delivery to the following recipients failed",
    "unable to deliver message to the following recipients",
  ]),
  bounce("IBM Domino", `${SISIMAI} (Domino)`, "1999 to 2020", ["was not delivered to:"]),
  bounce("Novell GroupWise", "https://github.com/sympa-community/sympa (bouncehandler, groupwise7)", "2000 to 2018", [
    "the message that you sent was undeliverable to the following",
    "the attached file had the following undeliverable recipient",
  ]),
  bounce("Sun Messaging Server, iCloud", `${SISIMAI} (MessagingServer)`, "2003 to 2020", [
    "your message cannot be delivered to the following recipients",
  ]),
  bounce("Mimecast", `${SISIMAI} (Mimecast)`, "2018 to 2025", [
    "an email that you attempted to send to the following address",
  ]),
  bounce("Barracuda", `${SISIMAI} (Barracuda)`, "2007 to 2022", ["was blocked by our spam firewall"]),
  bounce("Symantec MessageLabs", `${SISIMAI} (MessageLabs)`, "2006 to 2020", [
    "i was not able to deliver your message to the following",
    "this is the mail delivery agent at messagelabs.com",
  ]),
  bounce(
    "Apache James",
    `${SISIMAI} (ApacheJames)`,
    "since 2003",
    ["error message below", "failed recipient(s):"],
    ["message details:"],
  ),
  bounce(
    "MailMarshal",
    `${SISIMAI} (MailMarshalSMTP)`,
    "2004 to 2020",
    ["could not be delivered because of"],
    ["the following recipients were affected", "additional information"],
  ),
  bounce(
    "MailFoundry",
    `${SISIMAI} (MailFoundry)`,
    "2006 to 2014",
    ["delivery failed for the following reason"],
    ["this has been a permanent failure"],
  ),
  bounce("m-FILTER", `${SISIMAI} (mFILTER)`, "2009 to 2020", ["-------server message"]),
  bounce("Trend Micro InterScan", `${SISIMAI} (InterScanMSS)`, "2003 to 2020", [
    "sent >>> rcpt to",
    "sent <<< rcpt to",
    "unable to deliver message to <",
  ]),
  bounce(
    "SurfControl",
    `${SISIMAI} (SurfControl)`,
    "2003 to 2012",
    ["your message could not be sent"],
    ["the message header"],
  ),
  bounce(
    "Courier",
    "Courier 1.0.16, dsnfailed.txt",
    "since 2000",
    ["your message to the following recipients cannot be delivered", "undeliverable mail"],
    ["if your message was also sent to additional"],
  ),
  bounce("OpenSMTPD", "OpenSMTPD 6.8, bounce.c", "since 2012", [
    "an error has occurred while attempting to deliver a message",
  ]),
  bounce("McAfee", `${SISIMAI} (McAfee)`, "2006 to 2016", ["--- the following addresses had delivery problems"]),
  bounce(
    "MDaemon",
    "MDaemon, the template DSNFail.dat",
    "2000 to 2020",
    ["failed address:", "the following data may contain sections which represent bounced messages"],
    ["--- session transcript", "--- end transcript", ": message contains"],
  ),
  bounce("HCL Notes", `${SISIMAI} (Notes)`, "1995 to 2020", ["------- failure reasons"], ["------- returned message"]),
  bounce(
    "Smail 3, T-Online",
    `${SISIMAI} (DeutscheTelekom)`,
    "since 1992",
    ["|------------------------- failed addresses follow"],
    ["|------------------------- message"],
  ),
  bounce(
    "DragonFly Mail Agent",
    "dma 0.13, mail.c",
    "since 2009",
    ["there was an error delivering your mail to <"],
    ["message headers follow"],
  ),
  bounce("KDDI au (ezweb)", `${SISIMAI} (EZweb)`, "2003 to 2018", ["each of the following recipients was rejected"]),
  bounce("Sisimai's X1", `${SISIMAI} (X1)`, "2010", ["---the following addresses had delivery errors---"]),
  bounce(
    "Sisimai's X6",
    `${SISIMAI} (X6)`,
    "2012",
    ["we had trouble delivering your message"],
    ["the attachment contains the original mail headers"],
  ),
]
